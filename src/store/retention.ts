import type { Time } from '../base/inode.ts';

/** What the policy needs to know of a snapshot. */
export interface DatedSnapshot {
	readonly id: number;
	readonly parent: number | null;
	readonly tag: string | null;
	readonly created: Time;
}

/** History as the policy sees it. */
export interface DatedHistory {
	readonly snapshots: readonly DatedSnapshot[];
	/** The snapshot that the present grew from. */
	readonly position: number;
	/** Snapshots that redo can still go to. */
	readonly redo: readonly number[];
}

/** Which snapshots to keep; with neither field the plain rule holds. With both, what either keeps is kept. */
export interface RetentionRule {
	/** So many of the newest. */
	readonly keepLast?: number | undefined;
	/** Those no older than this. */
	readonly keepWithinSeconds?: number | undefined;
}

const PLAIN_KEEP_SECONDS = 7 * 24 * 60 * 60;

/**
 * The snapshots that garbage collection may drop. The position, tagged snapshots and the redo trail always stay. The plain
 * rule drops what is older than seven days and can't be reached from those by walking to parents: forsaken lines of history.
 */
export function snapshotsToDrop(history: DatedHistory, rule: RetentionRule, now: Time): number[] {
	const { keepLast, keepWithinSeconds } = rule;
	const plain = keepLast === undefined && keepWithinSeconds === undefined;
	const kept = plain ? reachable(history) : new Set(anchors(history));
	for (const id of newest(history, keepLast ?? 0)) kept.add(id);
	const keepSeconds = plain ? PLAIN_KEEP_SECONDS : keepWithinSeconds;
	return history.snapshots
		.filter(({ id, created }) => !kept.has(id) && (keepSeconds === undefined || isOlder(created, now, keepSeconds)))
		.map(({ id }) => id)
		.sort((a, b) => a - b);
}

function anchors({ snapshots, position, redo }: DatedHistory): number[] {
	return [position, ...redo, ...snapshots.filter(({ tag }) => tag !== null).map(({ id }) => id)];
}

function reachable(history: DatedHistory): Set<number> {
	const parents = new Map(history.snapshots.map(({ id, parent }) => [id, parent]));
	const reached = new Set<number>();
	for (const anchor of anchors(history)) {
		for (let id: number | null = anchor; id !== null && !reached.has(id); id = parents.get(id) ?? null) reached.add(id);
	}
	return reached;
}

function newest({ snapshots }: DatedHistory, count: number): number[] {
	return snapshots
		.map(({ id }) => id)
		.sort((a, b) => b - a)
		.slice(0, count);
}

function isOlder(created: Time, now: Time, seconds: number): boolean {
	const age = now.sec - created.sec;
	return age > seconds || (age === seconds && now.nsec > created.nsec);
}
