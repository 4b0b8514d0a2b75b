import type { Change } from '../base/change.ts';
import { isWithin } from '../base/paths.ts';
import { parseTrail, planRedo, planUndo, trailAfterUndo } from '../history/undo.ts';
import type { Root } from '../store/roots.ts';
import { historyGraph } from './history-graph.ts';
import type { OwnedSession } from './session.ts';
import { snapshotIfChanged } from './snapshot-session.ts';

/** What a restore is to touch. */
export interface RestoreScope {
	/** Paths below the project's root; empty for everything. */
	readonly paths: readonly string[];
	/** The home tree as well: off, for an undo must not rewind the agent's own transcript or login. */
	readonly withHome: boolean;
}

/** What a restore did, or would do. */
export interface RestoreOutcome {
	/** The snapshot that the present now is. */
	readonly target: number;
	/** The snapshot that holds what was there before; null when that was no different from the position. */
	readonly present: number | null;
	/** What differs between before and after, tree by tree. */
	readonly changes: readonly { readonly root: Root; readonly changes: readonly Change[] }[];
}

/** What restoring a snapshot would change, without changing it. */
export function previewRestore(
	session: OwnedSession,
	target: number,
	{ paths, withHome }: RestoreScope,
): RestoreOutcome['changes'] {
	const { tree } = session.store;
	return session.store.read(() =>
		session.workRoots(withHome).map((root) => ({
			root,
			changes: tree.changes('now', target, root.ino).filter(({ path }) => isChosen(root, path, paths)),
		})),
	);
}

/**
 * Makes the present equal to a snapshot, in the store and in the live layer; what was there is in a snapshot of its own
 * before anything is touched. With paths, only those, and the position stays. `within` joins the transaction; it is given
 * the snapshot that holds what was there.
 */
export function restoreSession(
	session: OwnedSession,
	target: number,
	scope: RestoreScope,
	within: (before: number) => void = () => {},
): RestoreOutcome {
	const { store } = session;
	const present = snapshotIfChanged(session, { trigger: 'restore' })?.id ?? null;
	const { position } = store.head.values();
	const changes = previewRestore(session, target, scope);
	session.changeTree(changes, () => {
		if (scope.paths.length === 0)
			store.tree.restore(
				target,
				session.workRoots(scope.withHome).map(({ ino }) => ino),
			);
		else for (const { root, changes: chosen } of changes) store.tree.apply(root.ino, chosen);
		within(position);
	});
	return { target, present, changes };
}

/** What an undo would do. Null when there is nothing to undo. */
export function previewUndo(
	session: OwnedSession,
	steps: number,
	scope: RestoreScope,
): Omit<RestoreOutcome, 'present'> | null {
	const graph = historyGraph(session.store, session.workRoots());
	const plan = session.store.read(() => planUndo(graph, steps));
	return plan === null ? null : { target: plan.target, changes: previewRestore(session, plan.target, scope) };
}

/** What a redo would do. Null when there is nothing to redo. */
export function previewRedo(session: OwnedSession, scope: RestoreScope): Omit<RestoreOutcome, 'present'> | null {
	const graph = historyGraph(session.store, session.workRoots());
	const plan = session.store.read(() => planRedo(graph, parseTrail(session.store.config.get('redo'))));
	return plan === null ? null : { target: plan.target, changes: previewRestore(session, plan.target, scope) };
}

/** Steps back through history. Null when there is nothing to undo. */
export function undoSession(session: OwnedSession, steps: number, scope: RestoreScope): RestoreOutcome | null {
	const { store } = session;
	const graph = historyGraph(store, session.workRoots());
	const plan = store.read(() => planUndo(graph, steps));
	if (plan === null) return null;
	const trail = parseTrail(store.config.get('redo'));
	return restoreSession(session, plan.target, scope, (before) => {
		if (scope.paths.length === 0) store.config.setJson('redo', trailAfterUndo(graph, plan, before, trail));
	});
}

/** Steps forward along the trail that undo left. Null when there is nothing to redo. */
export function redoSession(session: OwnedSession, scope: RestoreScope): RestoreOutcome | null {
	const { store } = session;
	const graph = historyGraph(store, session.workRoots());
	const plan = store.read(() => planRedo(graph, parseTrail(store.config.get('redo'))));
	if (plan === null) return null;
	return restoreSession(session, plan.target, scope, () => store.config.setJson('redo', plan.trail));
}

/** Paths are below the project; other trees are restored only whole. */
function isChosen(root: Root, path: string, paths: readonly string[]): boolean {
	return paths.length === 0 || (root.role === 'project' && paths.some((chosen) => isWithin(path, chosen)));
}
