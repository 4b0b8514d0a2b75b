import { parseTrail } from '../history/undo.ts';
import { LOCK_SNAPSHOT_BASE, LockFile } from '../host/lock-file.ts';
import { collectGarbage, type GcReport } from '../store/gc.ts';
import { type RetentionRule, snapshotsToDrop } from '../store/retention.ts';
import type { OwnedSession } from './session.ts';

/** Drops the snapshots that the rule lets go; one that somebody reads stays. */
export function collectSessionGarbage(
	{ store, place, clock }: OwnedSession,
	rule: RetentionRule,
	dryRun: boolean,
): GcReport {
	const history = store.read(() => ({
		snapshots: store.snapshots.list(),
		position: store.head.values().position,
		redo: parseTrail(store.config.get('redo')),
	}));
	const drop = snapshotsToDrop(history, rule, clock.now());
	const locks = LockFile.open(place.lockPath);
	try {
		const report = collectGarbage(store, {
			drop,
			dryRun,
			// kept until gc is done: who wants to read the snapshot meanwhile finds it locked, then gone
			isBeingRead: (id) => !locks.tryLock(LOCK_SNAPSHOT_BASE + id, 1, 'exclusive'),
		});
		store.durable();
		return report;
	} finally {
		locks.close();
	}
}
