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

/** Why a snapshot stays. */
export type KeptWhy = 'position' | 'tagged' | 'redo' | 'newest' | 'young' | 'grown from';

/** What garbage collection may drop, and why the rest stays. */
export interface Retention {
	/** In ascending order. */
	readonly drop: readonly number[];
	readonly kept: readonly { readonly id: number; readonly why: KeptWhy }[];
}

/**
 * Which snapshots garbage collection may drop. The position, tagged snapshots and the redo trail always stay. The plain
 * rule drops what is older than seven days and can't be reached from those by walking to parents: forsaken lines of history.
 */
export function decideRetention(history: DatedHistory, rule: RetentionRule, now: Time): Retention {
	const { keepLast, keepWithinSeconds } = rule;
	const plain = isPlain(rule);
	const redo = new Set(history.redo);
	const fresh = new Set(newest(history, keepLast ?? 0));
	const reached = plain ? reachable(history) : new Set<number>();
	const keepSeconds = plain ? PLAIN_KEEP_SECONDS : keepWithinSeconds;
	const reason = ({ id, tag, created }: DatedSnapshot): KeptWhy | null => {
		if (id === history.position) return 'position';
		if (tag !== null) return 'tagged';
		if (redo.has(id)) return 'redo';
		if (fresh.has(id)) return 'newest';
		if (keepSeconds !== undefined && !isOlder(created, now, keepSeconds)) return 'young';
		return reached.has(id) ? 'grown from' : null;
	};
	const drop: number[] = [];
	const kept: { id: number; why: KeptWhy }[] = [];
	for (const snapshot of [...history.snapshots].sort((a, b) => a.id - b.id)) {
		const why = reason(snapshot);
		if (why === null) drop.push(snapshot.id);
		else kept.push({ id: snapshot.id, why });
	}
	return { drop, kept };
}

/** Whether a rule says nothing, so that the plain one holds. */
export function isPlain({ keepLast, keepWithinSeconds }: RetentionRule): boolean {
	return keepLast === undefined && keepWithinSeconds === undefined;
}

function reachable(history: DatedHistory): Set<number> {
	const parents = new Map(history.snapshots.map(({ id, parent }) => [id, parent]));
	const tagged = history.snapshots.filter(({ tag }) => tag !== null).map(({ id }) => id);
	const reached = new Set<number>();
	for (const anchor of [history.position, ...history.redo, ...tagged]) {
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
