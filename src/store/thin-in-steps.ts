import type { Time } from '../base/inode.ts';
import { collectDropped, type DroppedRange } from './collect-dropped.ts';
import { chooseSnapshots, dropSnapshots } from './drop-snapshots.ts';
import { giveBackPages } from './give-back-pages.ts';
import type { Store } from './store.ts';
import { AUTOMATIC, snapshotsToThin, THINNING, type ThinnableHistory } from './thinning.ts';

/** What a thinning needs besides the store. */
export interface ThinOptions {
	readonly now: Time;
	/** Snapshots that redo can still go to. */
	readonly redo: readonly number[];
	/** See DropChoice. */
	readonly isBeingRead?: (id: number) => boolean;
	/** Does nothing for fewer than so many at once; {@link THIN_AT_ONCE} unless said. */
	readonly atLeast?: number;
}

/** To look for what a few snapshots alone held costs as much as for many. */
export const THIN_AT_ONCE = 64;

/** One part of the free pages may stay: the next checkpoint fills them again. */
const FREE_SHARE = 1 / 32;

/**
 * Drops the automatic checkpoints that the policy lets go and, step by step, what they alone held: first what an earlier
 * thinning left undone. Yields after each step of some milliseconds how many snapshots it dropped; only under OWNER, and no
 * step may fall between Tree.stage and Tree.apply. It may be given up or killed after any step: the config knows what is left.
 * Runs and the other rows of the log stay whatever happens to snapshots.
 */
export function* thinInSteps(store: Store, options: ThinOptions): Generator<number> {
	const dropped = dropThinned(store, options);
	yield dropped;
	const range = rangeLeft(store);
	if (range === null) return;
	for (const _ of collectDropped(store, range)) yield 0;
	store.write(() => store.config.set('thinning', null));
	const leave = Math.floor((store.db.pragma('page_count') as number) * FREE_SHARE);
	for (const _ of giveBackPages(store.db, leave)) yield 0;
}

/** What the policy looks at, redo aside, on one state of the store. */
export function thinnableHistory(store: Store, redo: readonly number[]): ThinnableHistory {
	return store.read(() => ({
		snapshots: store.snapshots.list(),
		position: store.head.values().position,
		redo,
		named: new Set(store.db.prepare<number>(NAMED, 'value').all()),
	}));
}

/** How many automatic checkpoints there are that can go at all, at most. */
export function countAutomatic({ db }: Pick<Store, 'db'>): number {
	return Math.max(0, (db.prepare<number>(COUNT, 'value').get() ?? 0) - THINNING.newest);
}

const COUNT = `select count(*) from snapshot where trigger in (${[...AUTOMATIC].map((name) => `'${name}'`).join(', ')})`;

/** Every column that names a snapshot for as long as its row stays. */
const NAMED =
	'select first_snapshot from run where first_snapshot is not null' +
	' union select last_snapshot from run where last_snapshot is not null union select snapshot from applied';

/** In one transaction with the note of what is to be collected. */
function dropThinned(store: Store, { now, redo, isBeingRead, atLeast = THIN_AT_ONCE }: ThinOptions): number {
	if (countAutomatic(store) < atLeast) return 0;
	return store.write(() => {
		const drop = snapshotsToThin(thinnableHistory(store, redo), now);
		if (drop.length < atLeast) return 0;
		const { dropped } = chooseSnapshots(store.db, isBeingRead === undefined ? { drop } : { drop, isBeingRead });
		if (dropped.length === 0) return 0;
		dropSnapshots(store, dropped);
		const left = rangeLeft(store);
		const first = Math.min(dropped[0] as number, left?.first ?? Number.POSITIVE_INFINITY);
		const last = Math.max(dropped.at(-1) as number, left?.last ?? 0);
		store.config.setJson('thinning', [first, last]);
		return dropped.length;
	});
}

/** What an earlier thinning, or this one, has to collect. */
function rangeLeft({ config }: Store): DroppedRange | null {
	const value = config.getJson('thinning');
	if (value === null) return null;
	const [first, last] = Array.isArray(value) ? (value as unknown[]) : [];
	if (typeof first !== 'number' || typeof last !== 'number') {
		throw new Error(`the thinning in the config is malformed: ${JSON.stringify(value)}`);
	}
	return { first, last };
}
