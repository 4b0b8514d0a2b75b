import type { Change } from '../base/change.ts';
import type { Clock } from '../base/clock.ts';
import { ancestorPaths } from '../base/paths.ts';
import { findOrigin, Origins } from '../store/origins.ts';
import type { Root } from '../store/roots.ts';
import type { Store } from '../store/store.ts';
import { type AppliedRecord, type AppliedTree, type ApplyState, NO_RECORD, setApplyState } from './applied-record.ts';
import { equalToHost, type MayDrop, rowsToDrop } from './drop-rows.ts';
import { aimOf, type Direction } from './host-changes.ts';
import { rowsToKeepReading } from './keep-rows.ts';
import type { HostedRoot } from './starting-points.ts';

/** What happens to the session once the host is written. */
export interface FinishOptions {
	readonly clock: Clock;
	/** The session is live: its upper directory stays as it is, and so do the rows until the next stop. */
	readonly isLive?: boolean;
	/**
	 * Runs the transaction `write`, which changes the trees as told; for a session that has a layer to bring in line with
	 * them. By default it is run in Store.write.
	 */
	readonly commit?: (changes: readonly RootChanges[], write: () => void) => void;
}

/** What becomes of one tree's rows. */
export interface RootChanges {
	readonly root: Root;
	readonly changes: readonly Change[];
}

/**
 * Lets the session read the host where the host now has what the session had, in one transaction with the end of the apply:
 * rows are dropped, origins are those of the new host, and a snapshot says so. On disk when it returns.
 */
export function finishApply(
	store: Store,
	record: AppliedRecord,
	hosted: readonly HostedRoot[],
	options: FinishOptions,
): void {
	finish(store, record, hosted, options, 'forward');
}

/** The same after an undo: the session keeps what it had, now as changes over the host again. */
export function finishUndo(
	store: Store,
	record: AppliedRecord,
	hosted: readonly HostedRoot[],
	options: FinishOptions,
): void {
	finish(store, record, hosted, options, 'back');
}

/** The part of an apply that belongs to a tree. */
export function treeOf(record: AppliedRecord, { root }: HostedRoot): AppliedTree | null {
	return record.trees.find((tree) => tree.root === root.ino) ?? null;
}

function finish(
	store: Store,
	record: AppliedRecord,
	hosted: readonly HostedRoot[],
	{ clock, isLive = false, commit = (_, write) => store.write(write) }: FinishOptions,
	direction: Direction,
): void {
	const parts = hosted.flatMap((tree) => {
		const applied = treeOf(record, tree);
		if (applied === null) return [];
		const changes = isLive ? [] : rowChanges(store, record, applied, tree, direction);
		return [
			{
				root: tree.root,
				applied,
				changes,
				staged: store.tree.stage(changes),
				origins: newOrigins(store, applied, tree, changes),
			},
		];
	});
	if (record.id === NO_RECORD && parts.every(({ changes }) => changes.length === 0)) return;
	const state: ApplyState = direction === 'forward' ? 'done' : 'undone';
	const write = () => {
		const origins = new Origins(store);
		for (const { root, applied, changes, staged, origins: found } of parts) {
			store.tree.apply(root.ino, changes, staged);
			origins.forget(root.ino, decidedPaths(applied));
			for (const origin of found) origins.firstTouch(root.ino, origin);
		}
		if (record.id === NO_RECORD) return;
		setApplyState(store, record.id, state);
		const note = direction === 'forward' ? `apply ${record.id}` : `apply ${record.id} undone`;
		if (!isLive) store.tree.snapshot({ trigger: 'apply', created: clock.now(), note });
	};
	commit(parts, write);
	store.durable();
}

function rowChanges(
	store: Store,
	record: AppliedRecord,
	applied: AppliedTree,
	tree: HostedRoot,
	direction: Direction,
): Change[] {
	const layer = store.tree.at('now');
	if (direction === 'back') {
		return rowsToKeepReading(layer, tree, applied, (entry) => aimOf(store, record, applied, entry, 'forward'));
	}
	const settled = new Set(applied.settled);
	const isEqual = equalToHost(layer, tree);
	const mayDrop: MayDrop = (path, ours) => {
		// Whatever was asked for: the mark of a deleted name says nothing where there is no such name.
		if (ours === null && tree.host.statBare(path) === null) return true;
		return settled.has(path) && (record.wasPresent || isEqual(path, ours));
	};
	const kept = record.wasPresent
		? []
		: rowsToKeepReading(layer, tree, applied, (entry) => aimOf(store, record, applied, entry, 'back'));
	return [...withoutHolders(rowsToDrop(layer, tree, mayDrop), kept), ...kept];
}

/** A directory's row stays as long as a row below it is needed, however equal it is to the host's. */
function withoutHolders(drops: readonly Change[], kept: readonly Change[]): Change[] {
	const holders = new Set(kept.flatMap(({ path }) => ancestorPaths(path)));
	return drops.filter(({ path }) => !holders.has(path));
}

/** The host as it is now is what the session starts from wherever its layer still has a row. */
function newOrigins(store: Store, applied: AppliedTree, { root, host }: HostedRoot, changes: readonly Change[]) {
	const layer = store.tree.at('now');
	const after = new Map(changes.map((change) => [change.path, change.after]));
	return decidedPaths(applied).flatMap((path) => {
		const hasRow = after.has(path) ? after.get(path) !== null : layer.resolve(root.ino, path) !== null;
		if (!hasRow) return [];
		const inode = host.stat(path);
		return [findOrigin(path, inode, inode?.kind === 'file' ? host.content(path, inode.size) : null, true)];
	});
}

function decidedPaths({ paths, around, settled }: AppliedTree): string[] {
	return [...new Set([...paths.map(({ path }) => path), ...around, ...settled])].filter((path) => path !== '');
}
