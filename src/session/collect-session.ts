import { parseTrail } from '../history/undo.ts';
import { LOCK_SNAPSHOT_BASE, LockFile } from '../host/lock-file.ts';
import type { SparedSnapshot } from '../store/drop-snapshots.ts';
import { collectGarbage, type GcReport } from '../store/gc.ts';
import { decideRetention, isPlain, type KeptWhy, type RetentionRule } from '../store/retention.ts';
import { thinnableHistory } from '../store/thin-in-steps.ts';
import { snapshotsToThin } from '../store/thinning.ts';
import type { OwnedSession } from './session.ts';

/** What a collection did to a session, and what it left. */
export interface SessionGcReport extends GcReport {
	/** Every snapshot that is left, or would be, by its number, and why. */
	readonly kept: readonly { readonly id: number; readonly why: KeptWhy | SparedSnapshot['why'] }[];
}

/**
 * Drops the snapshots that the rule lets go; one that somebody reads stays. Without any rule it also thins automatic
 * checkpoints, down to the last that may go.
 */
export function collectSessionGarbage(
	{ store, place, clock }: OwnedSession,
	rule: RetentionRule,
	dryRun: boolean,
): SessionGcReport {
	const now = clock.now();
	const history = thinnableHistory(store, parseTrail(store.config.get('redo')));
	const thinned = new Set(isPlain(rule) ? snapshotsToThin(history, now) : []);
	const { drop, kept } = decideRetention(history, rule, now);
	const locks = LockFile.open(place.lockPath);
	try {
		const report = collectGarbage(store, {
			drop: [...drop, ...thinned],
			dryRun,
			// kept until gc is done: who wants to read the snapshot meanwhile finds it locked, then gone
			isBeingRead: (id) => !locks.tryLock(LOCK_SNAPSHOT_BASE + id, 1, 'exclusive'),
		});
		// what an interrupted thinning had left is collected as well
		if (!dryRun) store.write(() => store.config.set('thinning', null));
		store.durable();
		const left = [...kept.filter(({ id }) => !thinned.has(id)), ...report.spared];
		return { ...report, kept: left.sort((a, b) => a.id - b.id) };
	} finally {
		locks.close();
	}
}
