import { Refusal } from '../base/refusal.ts';
import { resolveRef } from '../history/refs.ts';
import { parseTrail, planRedo, planUndo, type RedoTrail, trailAfterUndo } from '../history/undo.ts';
import { historyGraph } from './history-graph.ts';
import type { RestoreAim } from './restore-request.ts';
import { restoreChanges } from './restore-rows.ts';
import type { RootChanges } from './root-changes.ts';
import type { Session } from './session.ts';

/** What a restore is to touch. */
export interface RestoreScope {
	/** Paths below the project's root; empty for everything. */
	readonly paths: readonly string[];
	/** The home tree as well: off, for an undo must not rewind the agent's own transcript or login. */
	readonly withHome: boolean;
}

/** A restore that has not begun. */
export interface PlannedRestore {
	readonly target: number;
	/** What it changes in the store's rows, tree by tree. */
	readonly changes: readonly RootChanges[];
	/** The redo trail to keep; null for the one that is there. `before` is the snapshot that holds the state before. */
	trail(before: number): RedoTrail | null;
}

/**
 * Plans a restore of what the store holds. Null when there is nothing to undo or to redo. Throws Refusal: 'invalid' for a ref
 * that is not there, 'usage' for one that is no snapshot.
 */
export function planRestore(session: Session, aim: RestoreAim, scope: RestoreScope): PlannedRestore | null {
	const found = 'ref' in aim ? toRef(session, aim.ref) : 'undo' in aim ? undo(session, aim.undo) : redo(session);
	if (found === null) return null;
	// with paths the position stays, and so does what can be redone from it
	const isWhole = scope.paths.length === 0 || 'redo' in aim;
	const { target } = found;
	const rows = { target, roots: session.workRoots(scope.withHome), paths: scope.paths };
	return {
		target,
		changes: session.store.read(() => restoreChanges(session.store, rows)),
		trail: (before) => (isWhole ? found.trail(before) : null),
	};
}

type Found = Pick<PlannedRestore, 'target' | 'trail'>;

function toRef({ store }: Session, ref: string): Found {
	const target = resolveRef(store, ref);
	if (typeof target === 'number') return { target, trail: () => null };
	throw new Refusal('usage', 'not-a-snapshot', `${ref} is no snapshot`, {
		hint: 'name one by its number or tag; see `dropcloth list`',
	});
}

function undo(session: Session, steps: number): Found | null {
	const { store } = session;
	const graph = historyGraph(store, session.workRoots());
	const { plan, trail } = store.read(() => ({
		plan: planUndo(graph, steps),
		trail: parseTrail(store.config.get('redo')),
	}));
	return plan && { target: plan.target, trail: (before) => trailAfterUndo(graph, plan, before, trail) };
}

function redo(session: Session): Found | null {
	const { store } = session;
	const graph = historyGraph(store, session.workRoots());
	const plan = store.read(() => planRedo(graph, parseTrail(store.config.get('redo'))));
	return plan && { target: plan.target, trail: () => plan.trail };
}
