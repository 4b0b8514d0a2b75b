import { expect, test } from 'vitest';
import { RateCap } from './rate-cap.ts';

test('a burst goes through, then one for each time that passed, and no more than a burst is saved up', () => {
	let now = 0;
	const cap = new RateCap({ burst: 3, refillMs: 10 }, () => now);
	const through = (asked: number) => Array.from({ length: asked }, () => cap.take()).filter(Boolean).length;
	expect(through(100)).toBe(3);
	now = 9;
	expect(through(100)).toBe(0);
	now = 10;
	expect(through(100)).toBe(1);
	now = 35;
	expect(through(100)).toBe(2);
	now = 40;
	expect(through(100)).toBe(1);
	now = 1_000_000;
	expect(through(100)).toBe(3);
});
