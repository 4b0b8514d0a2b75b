import { describe, expect, it } from 'vitest';
import { type DatedHistory, type DatedSnapshot, decideRetention, type RetentionRule } from './retention.ts';

const DAY = 24 * 60 * 60;
const NOW = { sec: 1_000 * DAY, nsec: 500 };

/** A snapshot so many days old. */
function aged(id: number, parent: number | null, days: number, tag: string | null = null): DatedSnapshot {
	return { id, parent, tag, created: { sec: NOW.sec - days * DAY, nsec: NOW.nsec } };
}

function snapshotsToDrop(history: DatedHistory, rule: RetentionRule, now: typeof NOW): readonly number[] {
	return decideRetention(history, rule, now).drop;
}

describe('decideRetention', () => {
	// 1 - 2 - 3 (position); 2 - 4 - 5; 2 - 6 - 7 (tag); 2 - 8 (redo); 2 - 9 (young)
	const history: DatedHistory = {
		snapshots: [
			aged(1, null, 30),
			aged(2, 1, 29),
			aged(3, 2, 28),
			aged(4, 2, 27),
			aged(5, 4, 26),
			aged(6, 2, 25),
			aged(7, 6, 24, 'kept'),
			aged(8, 2, 23),
			aged(9, 2, 6),
		],
		position: 3,
		redo: [8],
	};

	it('plainly drops what is over seven days old and leads to neither position, tag nor redo trail', () => {
		expect(snapshotsToDrop(history, {}, NOW)).toEqual([4, 5]);
	});

	it('plainly keeps what is seven days old and drops what is a nanosecond older', () => {
		const older = { ...aged(2, null, 7), created: { sec: NOW.sec - 7 * DAY, nsec: NOW.nsec - 1 } };
		const snapshots = [aged(1, null, 7), older, aged(3, null, 0)];
		expect(snapshotsToDrop({ snapshots, position: 3, redo: [] }, {}, NOW)).toEqual([2]);
	});

	it('keeps the newest when told how many, and position, tags and redo trail besides', () => {
		expect(snapshotsToDrop(history, { keepLast: 2 }, NOW)).toEqual([1, 2, 4, 5, 6]);
		expect(snapshotsToDrop(history, { keepLast: 0 }, NOW)).toEqual([1, 2, 4, 5, 6, 9]);
		expect(snapshotsToDrop(history, { keepLast: 99 }, NOW)).toEqual([]);
	});

	it('keeps what is young enough when told an age', () => {
		expect(snapshotsToDrop(history, { keepWithinSeconds: 27 * DAY }, NOW)).toEqual([1, 2]);
		expect(snapshotsToDrop(history, { keepWithinSeconds: 0 }, NOW)).toEqual([1, 2, 4, 5, 6, 9]);
	});

	it('keeps what either rule keeps', () => {
		expect(snapshotsToDrop(history, { keepLast: 5, keepWithinSeconds: 7 * DAY }, NOW)).toEqual([1, 2, 4]);
	});

	it('says of each that stays why it does', () => {
		const why = (rule: RetentionRule) => decideRetention(history, rule, NOW).kept.map((kept) => [kept.id, kept.why]);
		expect(why({})).toEqual([
			[1, 'grown from'],
			[2, 'grown from'],
			[3, 'position'],
			[6, 'grown from'],
			[7, 'tagged'],
			[8, 'redo'],
			[9, 'young'],
		]);
		expect(why({ keepLast: 1 }).at(-1)).toEqual([9, 'newest']);
	});

	it('ends on parents that lead in a circle', () => {
		const snapshots = [aged(1, 2, 30), aged(2, 1, 30), aged(3, null, 30)];
		expect(snapshotsToDrop({ snapshots, position: 1, redo: [] }, {}, NOW)).toEqual([3]);
	});
});
