import type { Root } from '../store/roots.ts';
import type { PlannedRestore, RestoreScope } from './plan-restore.ts';
import { writeRestore } from './restore-rows.ts';
import type { RootChanges } from './root-changes.ts';
import type { OwnedSession } from './session.ts';
import { snapshotIfChanged } from './snapshot-session.ts';

/** What a restore did, or would do. */
export interface RestoreOutcome {
	/** The snapshot that the present now is. */
	readonly target: number;
	/** The snapshot that holds what was there before; null when that was no different from the position. */
	readonly present: number | null;
	/** What differs between before and after, tree by tree. */
	readonly changes: readonly RootChanges[];
	/** Paths that could not be touched: something else is mounted there inside, or unversioned files keep the directory. */
	readonly kept: readonly { readonly root: Root; readonly path: string }[];
}

/**
 * Makes the present equal to a snapshot, in the store and in a live layer that nothing is mounted on; what was there is in a
 * snapshot of its own before anything is touched. With paths, only those, and the position stays.
 */
export function restoreSession(session: OwnedSession, plan: PlannedRestore, scope: RestoreScope): RestoreOutcome {
	const { store } = session;
	const { target, changes } = plan;
	const present = snapshotIfChanged(session, { trigger: 'restore' })?.id ?? null;
	const trail = plan.trail(store.head.values().position);
	const rows = { target, roots: session.workRoots(scope.withHome), paths: scope.paths, trail };
	session.changeTree(changes, () => writeRestore(store, rows, changes));
	return { target, present, changes, kept: [] };
}
