/** Enough of a snapshot to walk history. */
export interface Parented {
	readonly id: number;
	readonly parent: number | null;
}

/** Looks a snapshot up; store.snapshots is one. */
export interface SnapshotReader<T extends Parented> {
	get(id: number): T | null;
}

/**
 * A snapshot and those that it grew from, itself first: the log of the present when it starts at the position. Ends before
 * a parent that is not there.
 */
export function snapshotsBackFrom<T extends Parented>(snapshots: SnapshotReader<T>, from: number): T[] {
	return [...walkBackFrom(snapshots, from)];
}

/** The same one by one, for who seldom walks to the end: history may be thousands long. */
export function* walkBackFrom<T extends Parented>(snapshots: SnapshotReader<T>, from: number): Generator<T> {
	for (let at = snapshots.get(from); at !== null; at = at.parent === null ? null : snapshots.get(at.parent)) yield at;
}
