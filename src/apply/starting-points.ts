import { sameTime, type Time } from '../base/inode.ts';
import { ancestorPaths } from '../base/paths.ts';
import { snapshotsBackFrom } from '../history/log.ts';
import type { HostTree } from '../host/host-tree.ts';
import type { Origins } from '../store/origins.ts';
import type { Root } from '../store/roots.ts';
import type { SnapshotTrigger } from '../store/snapshots.ts';
import type { Store } from '../store/store.ts';
import { MergedView } from '../vfs/merged-view.ts';
import { isBefore, type StartingPoint } from './drift.ts';

/** One tree of a session with the host directory that it is applied to. */
export interface HostedRoot {
	readonly root: Root;
	/** Opened `rw` to apply, `ro` to plan. */
	readonly host: HostTree;
}

/**
 * Where the session started from, by path. A path without an origin was changed by way of a directory above it; there the
 * last snapshot that still showed the host's own thing says until when the session saw what the host did.
 */
export function startingPoints(
	store: Store,
	origins: Origins,
	snapshot: number,
	{ root, host }: HostedRoot,
): (path: string) => StartingPoint {
	const history = snapshotsBackFrom(store.snapshots, snapshot).map(({ id, created, trigger }) => ({
		seenAt: WHILE_RUNNING.has(trigger) ? movedBy(created, -CLOCK_TICK_NS) : movedBy(created, CLOCK_STEP_NS),
		view: new MergedView(store.tree.at(id), root.ino, host),
	}));
	const seenAt = (path: string): Time | null => {
		const shown = history.find(({ view }) => {
			const place = view.place(path);
			return place !== null && place.ino === null;
		});
		return shown !== undefined && isDirectoryAboveIntact(path, shown.seenAt) ? shown.seenAt : null;
	};
	/** A whole directory that was put in the place of the one that the session saw brings old things that it never saw. */
	const isDirectoryAboveIntact = (path: string, moment: Time): boolean => {
		for (const ancestor of ancestorPaths(path).reverse()) {
			const origin = origins.get(root.ino, ancestor);
			if (origin === null) continue;
			const now = host.stat(ancestor);
			return now !== null && (sameTime(now.ctime, origin.ctime) || isBefore(now.ctime, moment));
		}
		return true;
	};
	return (path) => {
		const origin = origins.get(root.ino, path);
		return { origin, seenAt: origin === null ? seenAt(path) : null };
	};
}

/** Snapshots that may be taken while the agent goes on: what the host did within a tick of them may have come after. */
const WHILE_RUNNING: ReadonlySet<SnapshotTrigger> = new Set<SnapshotTrigger>(['quiet', 'ceiling', 'request', 'manual']);
/** File systems stamp changes with a clock that is up to a tick behind: 10 ms with the slowest kernels. */
const CLOCK_TICK_NS = 10_000_000;
/** Snapshots are dated to the millisecond, downwards. */
const CLOCK_STEP_NS = 1_000_000;

function movedBy({ sec, nsec }: Time, byNs: number): Time {
	const moved = nsec + byNs;
	if (moved < 0) return { sec: sec - 1, nsec: moved + 1_000_000_000 };
	return moved < 1_000_000_000 ? { sec, nsec: moved } : { sec: sec + 1, nsec: moved - 1_000_000_000 };
}
