import { checkTag } from '../history/refs.ts';
import type { Snapshot, SnapshotMeta } from '../store/snapshots.ts';
import type { OwnedSession } from './session.ts';

/** How a snapshot is to be taken. */
export interface SnapshotRequest extends Omit<SnapshotMeta, 'created'> {
	/** Take the tag away from another snapshot. */
	readonly force?: boolean;
}

/** Takes a snapshot of what the store holds, durable when this returns. */
export function takeSnapshot(session: OwnedSession, request: SnapshotRequest): Snapshot {
	const { store } = session;
	const snapshot = store.write(() => insertSnapshot(session, request));
	store.durable();
	return snapshot;
}

/** Takes one unless the present is the position's state already; null then. */
export function snapshotIfChanged(session: OwnedSession, request: SnapshotRequest): Snapshot | null {
	return session.store.head.values().changed ? takeSnapshot(session, request) : null;
}

/** The part of it that joins a transaction. */
export function insertSnapshot({ store, clock }: OwnedSession, request: SnapshotRequest): Snapshot {
	const { force = false, tag = null, ...meta } = request;
	if (tag !== null) checkTag(tag);
	const id = store.tree.snapshot({ ...meta, created: clock.now() });
	if (tag !== null) store.snapshots.retag(id, tag, force);
	const snapshot = store.snapshots.get(id);
	if (snapshot === null) throw new Error(`snapshot ${id} was taken and is not there`);
	return snapshot;
}
