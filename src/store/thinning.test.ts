import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SnapshotTrigger } from './snapshots.ts';
import { AUTOMATIC, snapshotsToThin, THINNING, type ThinnableHistory, type ThinnableSnapshot } from './thinning.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The start of a day, and so of every slot. */
const NOON = 20_000 * DAY;

function snapshot(id: number, createdSec: number, more: Partial<ThinnableSnapshot> = {}): ThinnableSnapshot {
	const parent = id === 1 ? null : id - 1;
	const created = { sec: createdSec, nsec: 0 };
	return { id, parent, tag: null, created, trigger: 'quiet', atRest: true, run: null, ...more };
}

function historyOf(snapshots: readonly ThinnableSnapshot[], more: Partial<ThinnableHistory> = {}): ThinnableHistory {
	return { snapshots, position: snapshots.length, redo: [], named: new Set(), ...more };
}

/** A line of so many checkpoints, one every so many seconds from a moment on. */
function line(count: number, everySeconds: number, from = NOON): ThinnableSnapshot[] {
	return Array.from({ length: count }, (_, index) => snapshot(index + 1, from + index * everySeconds));
}

/** What is left of a history. */
function thinned(history: ThinnableHistory, nowSec: number): ThinnableHistory {
	const gone = new Set(snapshotsToThin(history, { sec: nowSec, nsec: 0 }));
	const parents = new Map(history.snapshots.map(({ id, parent }) => [id, parent]));
	const remaining = (id: number | null): number | null =>
		id !== null && gone.has(id) ? remaining(parents.get(id) ?? null) : id;
	const snapshots = history.snapshots
		.filter(({ id }) => !gone.has(id))
		.map((left) => ({ ...left, parent: remaining(left.parent) }));
	return { ...history, snapshots };
}

const idsOf = ({ snapshots }: ThinnableHistory) => snapshots.map(({ id }) => id);

describe('snapshotsToThin', () => {
	it('keeps all of the last hour, and in older slots the last', () => {
		const history = historyOf(line(240, MINUTE));
		const left = idsOf(thinned(history, NOON + 240 * MINUTE - 1));
		expect(left.filter((id) => id <= 180)).toEqual(Array.from({ length: 36 }, (_, slot) => 5 * slot + 5));
		expect(left.filter((id) => id > 180)).toHaveLength(60);
	});

	it('keeps one an hour after a day, and one a day after a week', () => {
		const history = historyOf(line(20 * 24 * 4, 15 * MINUTE));
		const now = NOON + 20 * DAY;
		const ages = thinned(history, now).snapshots.map(({ created }) => now - created.sec);
		expect(ages.filter((age) => age >= 8 * DAY)).toHaveLength(12);
		expect(ages.filter((age) => age >= 2 * DAY && age < 7 * DAY)).toHaveLength(5 * 24);
	});

	it('prefers what was taken at rest to what is newer', () => {
		const torn = (id: number) => snapshot(id, NOON + id, { atRest: false });
		const snapshots = [torn(1), snapshot(2, NOON + 2), torn(3), ...line(25, 1, NOON + 2 * HOUR)];
		const numbered = snapshots.map((one, index) => ({ ...one, id: index + 1, parent: index || null }));
		expect(snapshotsToThin(historyOf(numbered), { sec: NOON + 2 * HOUR, nsec: 0 })).toEqual([1, 3]);
	});

	const now = { sec: NOON + 30 * DAY, nsec: 0 };
	const base = historyOf(line(60, 1));
	const atFirst = snapshotsToThin(base, now);
	const replaced = (id: number, more: Partial<ThinnableSnapshot>): ThinnableHistory =>
		historyOf(base.snapshots.map((one) => (one.id === id ? { ...one, ...more } : one)));

	it.each<[string, ThinnableHistory]>([
		['the position', { ...base, position: 7 }],
		['what redo goes to', { ...base, redo: [7] }],
		['what the log names', { ...base, named: new Set([7]) }],
		['what is tagged', replaced(7, { tag: 'good' })],
		['the last of a run', replaced(7, { run: 3 })],
		['a tip of a line of history', replaced(8, { parent: 6 })],
		...(['start', 'manual', 'exit', 'restore', 'apply', 'adopt', 'branch'] as const).map(
			(trigger): [string, ThinnableHistory] => [`one by ${trigger}`, replaced(7, { trigger })],
		),
	])('never takes %s', (_, history) => {
		expect(atFirst).toContain(7);
		expect(snapshotsToThin(history, now)).toEqual(atFirst.filter((id) => id !== 7));
	});

	it('takes what the command inside asked for like any other, and never the newest', () => {
		expect(snapshotsToThin(replaced(7, { trigger: 'request' }), now)).toEqual(atFirst);
		expect(atFirst).toEqual(Array.from({ length: 60 - THINNING.newest }, (_, index) => index + 1));
	});

	it('takes nothing when the clock was set back behind all of history', () => {
		expect(snapshotsToThin(base, { sec: NOON - DAY, nsec: 0 })).toEqual([]);
	});
});

const TRIGGERS: readonly SnapshotTrigger[] = ['start', 'quiet', 'ceiling', 'request', 'manual', 'exit', 'restore'];

/** Histories with branches, torn snapshots and a clock that jumps both ways. */
const histories = fc
	.array(
		fc.record({
			passedSeconds: fc.oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: -3 * DAY, max: 3 * DAY })),
			trigger: fc.constantFrom(...TRIGGERS, 'quiet' as const, 'ceiling' as const, 'request' as const),
			atRest: fc.boolean(),
			back: fc.oneof(fc.constant(0), fc.nat(12)),
			tagged: fc.integer({ min: 0, max: 20 }),
			run: fc.option(fc.nat(5)),
		}),
		{ minLength: 1, maxLength: 120, size: 'max' },
	)
	.chain((steps) => {
		let sec = NOON;
		const snapshots = steps.map(({ passedSeconds, back, tagged, ...more }, index): ThinnableSnapshot => {
			sec += passedSeconds;
			const parent = index === 0 ? null : Math.max(1, index - back);
			return snapshot(index + 1, sec, { ...more, parent, tag: tagged === 0 ? `t${index}` : null });
		});
		const id = fc.integer({ min: 1, max: steps.length });
		return fc.record({
			history: fc.record<ThinnableHistory>({
				snapshots: fc.constant(snapshots),
				position: id,
				redo: fc.array(id, { maxLength: 3 }),
				named: fc.array(id, { maxLength: 5 }).map((ids) => new Set(ids)),
			}),
			times: fc.array(fc.integer({ min: -4 * DAY, max: 30 * DAY }), { minLength: 1, maxLength: 4 }),
		});
	});

describe('thinning', () => {
	it('done twice is done once, and done often leaves what the last time alone would have left', () => {
		fc.assert(
			fc.property(histories, ({ history, times }) => {
				const nows = times.map((offset) => NOON + offset).sort((a, b) => a - b);
				const last = nows.at(-1) as number;
				const often = nows.reduce((left, at) => thinned(left, at), history);
				expect(idsOf(often)).toEqual(idsOf(thinned(history, last)));
				expect(idsOf(thinned(often, last))).toEqual(idsOf(often));
			}),
			{ numRuns: 300 },
		);
	});

	it('takes automatic ones alone, and leaves one in each slot that had any', () => {
		fc.assert(
			fc.property(histories, ({ history, times: [offset = 0] }) => {
				const left = thinned(history, NOON + offset);
				const kept = new Set(idsOf(left));
				for (const { id, trigger } of history.snapshots) if (!kept.has(id)) expect(AUTOMATIC).toContain(trigger);
				const slots = (one: ThinnableHistory) =>
					new Set(
						one.snapshots
							.filter(({ trigger }) => AUTOMATIC.has(trigger))
							.map(({ created }) => Math.floor(created.sec / DAY)),
					);
				expect(slots(left)).toEqual(slots(history));
			}),
			{ numRuns: 300 },
		);
	});
});
