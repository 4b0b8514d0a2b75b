/** Enough of a snapshot to walk history. */
export interface Parented {
	readonly id: number;
	readonly parent: number | null;
}

/**
 * The snapshots that the present grew from: the position first, then parent after parent. Ends before a parent that gc
 * has dropped.
 */
export function* snapshotsBack<T extends Parented>(
	graph: { get(id: number): T | null },
	from: number,
): Generator<T, undefined> {
	for (let at = graph.get(from); at !== null; at = at.parent === null ? null : graph.get(at.parent)) yield at;
}
