import { describe, expect, test } from 'vitest';
import type { Figure } from '../../bench/harness/benchmark.ts';
import { columns, figureCells } from '../../bench/harness/figure-text.ts';
import { paired } from '../../bench/harness/paired.ts';
import { performancePage } from '../../bench/harness/performance-page.ts';
import type { Result } from '../../bench/harness/result-file.ts';
import { slowerThan } from '../../bench/harness/slower.ts';
import { verdictOf } from '../../bench/harness/verdict.ts';

function figure(change: Partial<Figure> = {}): Figure {
	return {
		name: 'restore/all',
		what: 'a restore',
		unit: 'ms',
		ours: [30, 10, 20],
		theirs: null,
		against: null,
		goal: { kind: 'at most', value: 20 },
		...change,
	};
}

function result(...figures: Figure[]): Result {
	return {
		benchmark: 'restore',
		date: '2026-01-02T03:04:05.000Z',
		full: false,
		machine: {
			processor: 'A processor',
			cores: 2,
			memoryGiB: 4,
			kernel: '6.1.0',
			node: 'v20.20.2',
			filesystem: 'ef53',
			user: 'root',
			commit: '0123456789abcdef',
			modified: false,
		},
		before: { average: 0.1, busy: 0.02 },
		after: { average: 0.4, busy: 0.03 },
		quiet: true,
		figures,
	};
}

describe('a figure', () => {
	test('passes when the median of ours is at most the goal', () => {
		expect(verdictOf(figure())).toEqual({ ours: 20, theirs: null, ratio: null, reached: 20, passed: true });
		expect(verdictOf(figure({ ours: [20, 21, 22, 20] }))).toMatchObject({ reached: 20.5, passed: false });
	});

	test('is compared pair by pair: one slow moment falls on both', () => {
		const pairs = { ours: [10, 100, 12], theirs: [10, 100, 10] };
		const ratio = figure({ ...pairs, goal: { kind: 'ratio', value: 1.1 } });
		expect(verdictOf(ratio)).toEqual({ ours: 12, theirs: 10, ratio: 1, reached: 1, passed: true });
		const extra = figure({ ...pairs, goal: { kind: 'extra', value: 1 } });
		expect(verdictOf(extra)).toMatchObject({ reached: 0, passed: true });
	});

	test('without samples, or with pairs that are not whole, is an error', () => {
		expect(() => verdictOf(figure({ ours: [] }))).toThrow('0 samples');
		expect(() => verdictOf(figure({ theirs: [1] }))).toThrow('3 samples of ours, 1 of theirs');
		expect(() => verdictOf(figure({ goal: { kind: 'ratio', value: 1 } }))).toThrow('something to compare with');
	});

	test('is a line of name, ours, theirs, ratio, goal and pass or FAIL', () => {
		const one = figure();
		const other = figure({ name: 'x', theirs: [5, 5, 5], goal: { kind: 'extra', value: 1.5 } });
		expect(columns([one, other].map((each) => figureCells(each, verdictOf(each))))).toBe(
			'restore/all  20.0 ms  -        -      <= 20 ms               pass\n' +
				'x            20.0 ms  5.00 ms  4.000  <= +1.5 ms (+15.0 ms)  FAIL\n',
		);
	});
});

test('pairs are taken in turn, and the first are thrown away', async () => {
	const order: string[] = [];
	const sample = (whose: string) => (round: number) => order.push(`${whose} ${round}`);
	expect(await paired(2, sample('ours'), sample('theirs'))).toEqual({ ours: [3, 5], theirs: [4, 6] });
	expect(order).toEqual(['ours 0', 'theirs 0', 'ours 1', 'theirs 1', 'ours 2', 'theirs 2']);
});

describe('against an earlier result', () => {
	const before = result(figure({ name: 'long', ours: [1000] }), figure({ name: 'short', ours: [10] }));

	test.each([
		['not by 10 ms', 'short', 19, []],
		['by more than 10 ms and 5 %', 'short', 21, ['short: 21.0 ms, was 10.0 ms']],
		['by more than 10 ms but not 5 %', 'long', 1040, []],
		['by both', 'long', 1060, ['long: 1060 ms, was 1000 ms']],
		['under a name that was not there', 'new', 5000, []],
	])('slower %s', (_how, name, ours, lines) => {
		expect(slowerThan([before], [result(figure({ name, ours: [ours] }))])).toEqual(lines);
	});

	test('only times can be slower', () => {
		const memory = (value: number) => result(figure({ name: 'memory', unit: 'MiB', ours: [value] }));
		expect(slowerThan([memory(1)], [memory(1000)])).toEqual([]);
	});
});

describe('the page', () => {
	test('names machine, commit, date and load, and each figure with its goal', () => {
		const page = performancePage([result(figure({ theirs: [40, 40, 40], against: 'git' }))]);
		expect(page).toContain('The machine was quiet.');
		expect(page).toContain('| restore/all | a restore; theirs: git | 20.0 ms | 40.0 ms | 0.500 | <= 20 ms | pass |');
		expect(page).toContain('| restore | 2026-01-02 | 0123456789ab | default | 0.1, 2 % | 0.4, 3 % | yes |');
		expect(page).toContain('A processor, 2 cores, 4 GiB; Linux 6.1.0, Node v20.20.2');
	});

	test('says when the machine was not quiet', () => {
		const page = performancePage([{ ...result(figure()), quiet: false }]);
		expect(page).toContain('**The machine was not quiet** during restore');
	});
});
