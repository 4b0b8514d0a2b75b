import { expect, test } from 'vitest';
import { CheckpointClock } from './checkpoint-clock.ts';

const TIMES = { quietMs: 2_000, intervalMs: 60_000 };

test('nothing is due before something moved, and nothing once it is saved', () => {
	const clock = new CheckpointClock(TIMES);
	expect(clock.due(1_000_000)).toBeNull();
	clock.moved(1_000_000);
	expect(clock.due(1_001_999)).toBeNull();
	expect(clock.due(1_002_000)).toBe('quiet');
	clock.saved();
	expect(clock.due(2_000_000)).toBeNull();
});

test('what moves all the time is due when the interval has passed since it began to', () => {
	const clock = new CheckpointClock(TIMES);
	for (let nowMs = 500_000; nowMs < 560_000; nowMs += 1_000) {
		clock.moved(nowMs);
		expect(clock.due(nowMs)).toBeNull();
	}
	clock.moved(560_000);
	expect(clock.due(560_000)).toBe('ceiling');
	clock.saved();
	clock.moved(561_000);
	expect(clock.due(561_000)).toBeNull();
	clock.moved(621_000);
	expect(clock.due(621_000)).toBe('ceiling');
});

test('after failures the next try is later each time, up to five minutes, and only the first is told', () => {
	const clock = new CheckpointClock(TIMES);
	clock.moved(0);
	const waits: number[] = [];
	let nowMs = 2_000;
	for (let failure = 0; failure < 9; failure++) {
		expect(clock.due(nowMs)).toBe('quiet');
		expect(clock.failed(nowMs)).toBe(failure === 0);
		const failedMs = nowMs;
		while (clock.due(nowMs) === null) nowMs += 1_000;
		waits.push(nowMs - failedMs);
	}
	expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * 1000));
	clock.saved();
	clock.moved(nowMs);
	expect(clock.failed(nowMs)).toBe(true);
});
