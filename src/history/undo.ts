/**
 * Undo and redo as plans over the snapshot graph. Undo walks parents and never stops at a state equal to the one it left;
 * redo walks back along the trail that undo wrote, for as long as nothing new was done since.
 */
import { type Parented, walkBackFrom } from './log.ts';

/** A state of the session: a snapshot's, or the present. */
export type State = number | 'now';

/** What the plans need to know of history. */
export interface UndoGraph {
	get(id: number): Parented | null;
	/** The snapshot that the present grew from. */
	readonly position: number;
	/** Whether two states are the same to undo: project and gitdir roots, home aside. */
	same(a: State, b: State): boolean;
}

/** Where an undo goes. */
export interface UndoPlan {
	/** The snapshot to restore. */
	readonly target: number;
	/** The states stepped over, newest first, each different from the next. */
	readonly left: readonly State[];
	/** How many steps it really is: fewer than asked when history ends. */
	readonly steps: number;
}

/** Where a redo goes. */
export interface RedoPlan {
	/** The snapshot to restore. */
	readonly target: number;
	/** The trail to keep once it is done. */
	readonly trail: RedoTrail;
}

/** The snapshots that undo left, the next one to redo last; kept in the config as JSON. */
export type RedoTrail = readonly number[];

/** An undo of so many steps, or null when there is nothing to undo. */
export function planUndo(graph: UndoGraph, steps: number): UndoPlan | null {
	return stepBack(graph, 'now', graph.position, steps);
}

/**
 * The trail to keep once an undo is done. `present` is the snapshot that holds the state before the undo; `before` the
 * trail until then, which goes on when nothing new was done since.
 */
export function trailAfterUndo(graph: UndoGraph, plan: UndoPlan, present: number, before: RedoTrail): RedoTrail {
	const earlier = leadsTo(graph, before, present) ? before : [];
	return [...earlier, ...plan.left.map((state) => (state === 'now' ? present : state))];
}

/** One step of redo, or null when there is nothing to redo: no trail, or something new was done since the undo. */
export function planRedo(graph: UndoGraph, trail: RedoTrail): RedoPlan | null {
	const target = trail.at(-1);
	if (target === undefined || !leadsTo(graph, trail, 'now')) return null;
	return { target, trail: trail.slice(0, -1) };
}

/** Whether the trail was left by undoing to this very state: undoing its last snapshot once more would come here. */
function leadsTo(graph: UndoGraph, trail: RedoTrail, state: State): boolean {
	const last = trail.at(-1);
	if (last === undefined) return false;
	const back = stepBack(graph, last, last, 1);
	return back !== null && graph.same(back.target, state);
}

function stepBack(graph: UndoGraph, from: State, snapshot: number, steps: number): UndoPlan | null {
	const left: State[] = [];
	let current = from;
	for (const { id } of walkBackFrom(graph, snapshot)) {
		if (left.length === steps) break;
		if (id === current || graph.same(current, id)) continue;
		left.push(current);
		current = id;
	}
	return left.length === 0 || current === 'now' ? null : { target: current, left, steps: left.length };
}

/** The trail that a config value holds; empty when there is none. */
export function parseTrail(text: string | null): RedoTrail {
	if (text === null || text === '') return [];
	const value: unknown = JSON.parse(text);
	if (!Array.isArray(value) || !value.every((id) => typeof id === 'number')) {
		throw new Error(`the redo trail in the config is malformed: ${text}`);
	}
	return value;
}
