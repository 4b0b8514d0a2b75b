import type { Time } from '../base/inode.ts';
import type { DatedHistory, DatedSnapshot } from './retention.ts';
import type { SnapshotTrigger } from './snapshots.ts';

/** What thinning needs to know of a snapshot. */
export interface ThinnableSnapshot extends DatedSnapshot {
	readonly trigger: SnapshotTrigger;
	readonly atRest: boolean;
	/** The run that was going on. */
	readonly run: number | null;
}

/** History as thinning sees it. */
export interface ThinnableHistory extends DatedHistory {
	readonly snapshots: readonly ThinnableSnapshot[];
	/** Snapshots that a row of the log names: where a run began and ended, what was applied. */
	readonly named: ReadonlySet<number>;
}

/** From this age on, one checkpoint is left in each slot. */
interface Stage {
	readonly fromSeconds: number;
	readonly slotSeconds: number;
}

/**
 * How automatic checkpoints grow thinner with age: all of the last hour stay; then one per five minutes, after a day one
 * per hour, after a week one per day. Each slot is whole slots of the stage before, so that what is left of a slot was
 * left in its own before: thinning early or late, once or often, leaves the same.
 */
export const THINNING: { readonly newest: number; readonly stages: readonly Stage[] } = {
	/** So many of the newest stay whatever their age: a clock that jumped ahead takes nothing away. */
	newest: 20,
	stages: [
		{ fromSeconds: 3_600, slotSeconds: 300 },
		{ fromSeconds: 86_400, slotSeconds: 3_600 },
		{ fromSeconds: 604_800, slotSeconds: 86_400 },
	],
};

/**
 * Triggers that nobody outside asked for. `request` is one: it comes from the command inside, and a flood of such must not
 * fill history. Where a run starts and ends is a milestone and stays.
 */
export const AUTOMATIC: ReadonlySet<SnapshotTrigger> = new Set(['quiet', 'ceiling', 'request']);

/**
 * The automatic checkpoints that go, in ascending order. In each slot the last that was taken at rest stays, or the last
 * when none was. Never those that are tagged, named by the log, the position, on the redo trail, the last of their run, a tip
 * (nothing grew from it: its work may be found nowhere else), or among the newest.
 */
export function snapshotsToThin(history: ThinnableHistory, now: Time): number[] {
	const automatic = history.snapshots.filter(({ trigger }) => AUTOMATIC.has(trigger));
	const stays = exempt(history);
	const best = THINNING.stages.map(({ slotSeconds }) => bestBySlot(automatic, slotSeconds));
	return automatic
		.filter((snapshot) => {
			const stage = stageOf(now.sec - snapshot.created.sec);
			if (stage === null || stays.has(snapshot.id)) return false;
			const { slotSeconds } = THINNING.stages[stage] as Stage;
			return best[stage]?.get(slotOf(snapshot, slotSeconds))?.id !== snapshot.id;
		})
		.map(({ id }) => id)
		.sort((a, b) => a - b);
}

function exempt({ snapshots, position, redo, named }: ThinnableHistory): Set<number> {
	const grownFrom = new Set(snapshots.map(({ parent }) => parent));
	const lastOfRun = new Map<number, number>();
	for (const { id, run } of snapshots) if (run !== null) lastOfRun.set(run, Math.max(id, lastOfRun.get(run) ?? 0));
	const newest = snapshots
		.map(({ id }) => id)
		.sort((a, b) => b - a)
		.slice(0, THINNING.newest);
	const tagged = snapshots.filter(({ tag }) => tag !== null);
	const tips = snapshots.filter(({ id }) => !grownFrom.has(id));
	return new Set([
		position,
		...redo,
		...named,
		...newest,
		...lastOfRun.values(),
		...[...tagged, ...tips].map(({ id }) => id),
	]);
}

/** Null while it is too young for any. */
function stageOf(ageSeconds: number): number | null {
	const index = THINNING.stages.findLastIndex(({ fromSeconds }) => ageSeconds >= fromSeconds);
	return index < 0 ? null : index;
}

function slotOf({ created }: ThinnableSnapshot, slotSeconds: number): number {
	return Math.floor(created.sec / slotSeconds);
}

/** What stays in each slot; of all that are in it, exempt or not, so that it does not hang on what is exempt today. */
function bestBySlot(automatic: readonly ThinnableSnapshot[], slotSeconds: number): Map<number, ThinnableSnapshot> {
	const best = new Map<number, ThinnableSnapshot>();
	for (const snapshot of automatic) {
		const slot = slotOf(snapshot, slotSeconds);
		const other = best.get(slot);
		if (other === undefined || isBetter(snapshot, other)) best.set(slot, snapshot);
	}
	return best;
}

function isBetter(a: ThinnableSnapshot, b: ThinnableSnapshot): boolean {
	if (a.atRest !== b.atRest) return a.atRest;
	if (a.created.sec !== b.created.sec) return a.created.sec > b.created.sec;
	if (a.created.nsec !== b.created.nsec) return a.created.nsec > b.created.nsec;
	return a.id > b.id;
}
