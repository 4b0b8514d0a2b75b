import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeText } from './merge-text.ts';

function merge(base: string, ours: string, theirs: string): string {
	const result = mergeText(Buffer.from(base), Buffer.from(ours), Buffer.from(theirs));
	return 'merged' in result ? result.merged.toString() : `conflict: ${result.conflict}`;
}

describe('mergeText', () => {
	it('takes both sides’ changes of different lines', () => {
		expect(merge('1\n2\n3\n4\n5\n', 'one\n2\n3\n4\n5\n', '1\n2\n3\n4\nfive\n')).toBe('one\n2\n3\n4\nfive\n');
	});

	it('takes the same change of both once', () => {
		expect(merge('a\nb\nc\n', 'a\nB\nc\n', 'a\nB\nc\n')).toBe('a\nB\nc\n');
	});

	it('keeps a missing newline at the end', () => {
		expect(merge('a\nb\nc', 'A\nb\nc', 'a\nb\nc')).toBe('A\nb\nc');
	});

	it('calls different changes of the same line a conflict', () => {
		expect(merge('a\nb\nc\n', 'a\nx\nc\n', 'a\ny\nc\n')).toBe('conflict: both changed the same lines (1 place)');
	});

	it('does not merge what is not text', () => {
		expect(merge('a\0', 'b\0', 'c\0')).toMatch(/not text/);
	});

	it('gives up on what would take minutes', () => {
		expect(merge('\n'.repeat(9_000), `a${'\n'.repeat(9_000)}`, `${'\n'.repeat(9_000)}b`)).toMatch(/too large/);
	});

	it('gives the one side’s text when the other changed nothing, for any bytes', () => {
		const text = fc
			.array(fc.constantFrom('a', 'b', '\n', '\r\n', '\u00ff'), { maxLength: 40 })
			.map((parts) => Buffer.from(parts.join(''), 'latin1'));
		fc.assert(
			fc.property(text, text, (base, ours) => {
				expect(mergeText(base, ours, base)).toEqual({ merged: ours });
				expect(mergeText(base, base, ours)).toEqual({ merged: ours });
			}),
		);
	});
});
