import { sameViews } from '../history/diff.ts';
import type { UndoGraph } from '../history/undo.ts';
import type { Root } from '../store/roots.ts';
import type { Store } from '../store/store.ts';
import { SessionViews } from './session-views.ts';

/** A session's history as undo and redo see it; states are the same when a reader of the given trees sees no difference. */
export function historyGraph(store: Store, roots: readonly Root[]): UndoGraph {
	return {
		get: (id) => store.snapshots.get(id),
		get position() {
			return store.head.values().position;
		},
		same: (a, b) => a === b || isSame(store, roots, a, b),
	};
}

function isSame(store: Store, roots: readonly Root[], a: number | 'now', b: number | 'now'): boolean {
	const views = new SessionViews(store);
	try {
		return roots.every((root) => {
			const { from, to, candidates } = views.compare(root, a, b);
			return sameViews(from, to, candidates);
		});
	} finally {
		views.close();
	}
}
