import { expect, test } from 'vitest';
import { printable } from './printable.ts';

test.each([
	['plain ünïcode 名', 'plain ünïcode 名'],
	['a\nb\tc\\d', 'a\\nb\\tc\\\\d'],
	['\u001b[31mred', '\\x1b[31mred'],
	['bad-\udcff', 'bad-\\xff'],
	['evil\u202etxt.exe', 'evil\\u202etxt.exe'],
])('%j is shown as %s', (text, shown) => {
	expect(printable(text)).toBe(shown);
});
