/**
 * Undo and redo as plans over the snapshot graph. Undo walks parents and never stops at a state equal to the one it left;
 * redo walks back along the trail that undo wrote, for as long as nothing new was done since.
 */
import { type Parented, snapshotsBack } from './log.ts';

/** What the plans need to know of history. */
export interface UndoGraph {
	get(id: number): Parented | null;
	readonly position: number;
	/** Whether two states are the same to undo: project and gitdir roots, home aside. */
	same(a: number | 'now', b: number | 'now'): boolean;
}

/** Where an undo goes. */
export interface UndoPlan {
	/** The snapshot to restore. */
	readonly target: number;
	/** The states stepped over, newest first, each different from the next; `now` is the present before the undo. */
	readonly left: readonly ('now' | number)[];
	/** How many steps it really is: fewer than asked when history ends. */
	readonly steps: number;
}

/** Where a redo goes, and the trail that is left after it. */
export interface RedoPlan {
	readonly target: number;
	readonly trail: RedoTrail;
}

/** What undo left behind, kept in the config as JSON. */
export interface RedoTrail {
	/** The snapshot that the last undo or redo restored. */
	readonly position: number;
	/** Where redo goes next is the last one. */
	readonly ids: readonly number[];
}

/** An undo of so many steps, or null when there is nothing to undo. */
export function planUndo(graph: UndoGraph, steps: number): UndoPlan | null {
	const left: ('now' | number)[] = [];
	let current: 'now' | number = 'now';
	for (const { id } of snapshotsBack(graph, graph.position)) {
		if (left.length === steps) break;
		if (graph.same(current, id)) continue;
		left.push(current);
		current = id;
	}
	return current === 'now' ? null : { target: current, left, steps: left.length };
}

/**
 * The trail to keep once an undo is done. `present` is the snapshot that holds the state before the undo; `before` the
 * trail until then.
 */
export function trailAfterUndo(graph: UndoGraph, plan: UndoPlan, present: number, before: RedoTrail | null): RedoTrail {
	const earlier = before !== null && graph.same(before.position, present) ? before.ids : [];
	return { position: plan.target, ids: [...earlier, ...plan.left.map((id) => (id === 'now' ? present : id))] };
}

/** One step of redo, or null when there is nothing to redo: no trail, or something new was done since the undo. */
export function planRedo(graph: UndoGraph, trail: RedoTrail | null): RedoPlan | null {
	const target = trail?.ids.at(-1);
	if (trail === null || target === undefined) return null;
	if (graph.get(trail.position) === null || graph.get(target) === null) return null;
	if (!graph.same(trail.position, 'now')) return null;
	return { target, trail: { position: target, ids: trail.ids.slice(0, -1) } };
}

/** The trail that a config value holds; null when there is none. */
export function parseTrail(text: string | null): RedoTrail | null {
	if (text === null || text === '') return null;
	const value: unknown = JSON.parse(text);
	if (!isTrail(value)) throw new Error(`the redo trail in the config is malformed: ${text}`);
	return value;
}

function isTrail(value: unknown): value is RedoTrail {
	if (typeof value !== 'object' || value === null) return false;
	const { position, ids } = value as { position?: unknown; ids?: unknown };
	return typeof position === 'number' && Array.isArray(ids) && ids.every((id) => typeof id === 'number');
}
