import { expect, test } from 'vitest';
import { durationBetween, parseDurationMs, parseDurationSeconds } from './parse-duration.ts';

test.each([
	['0s', 0],
	['500ms', 500],
	['0.5s', 500],
	['90s', 90_000],
	['1.5m', 90_000],
	['12h', 43_200_000],
	['7d', 604_800_000],
])('%s is %d milliseconds', (text, ms) => {
	expect(parseDurationMs(text)).toBe(ms);
});

test.each(['', '5', 's', '-1s', '1.s', '.5s', '1e3s', '1s ', '1 s', '1w', '1S', '1s2m', '9999999999s'])(
	"'%s' is no duration",
	(text) => {
		expect(() => parseDurationMs(text)).toThrow(`${text} is not a duration`);
	},
);

test('seconds are whole, never less than was asked for', () => {
	expect(parseDurationSeconds('2d')).toBe(172_800);
	expect(parseDurationSeconds('1ms')).toBe(1);
	expect(parseDurationSeconds('1.2s')).toBe(2);
});

test('a duration outside its limits is refused with them', () => {
	const parse = durationBetween('50ms', '1h');
	expect([parse('50ms'), parse('60m')]).toEqual([50, 3_600_000]);
	for (const text of ['49ms', '0s', '1.1h']) {
		expect(() => parse(text)).toThrow(`${text} is not between 50ms and 1h`);
	}
});
