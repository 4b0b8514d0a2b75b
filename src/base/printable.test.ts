import { expect, test } from 'vitest';
import { printable, printableSentence } from './printable.ts';

test.each([
	['plain ünïcode 名', 'plain ünïcode 名'],
	['a\nb\tc\\d', 'a\\nb\\tc\\\\d'],
	['\u001b[31mred', '\\x1b[31mred'],
	['bad-\udcff', 'bad-\\xff'],
	['evil\u202etxt.exe', 'evil\\u202etxt.exe'],
])('%j is shown as %s', (text, shown) => {
	expect(printable(text)).toBe(shown);
});

test('leaves the backslashes of a sentence, whose names may be escaped already', () => {
	expect(printableSentence('changed: \\x1b a\u001b[31m\nb')).toBe('changed: \\x1b a\\x1b[31m\\nb');
});
