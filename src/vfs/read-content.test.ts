import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentOf, sha256 } from '../../test/support/memory-trees.ts';
import { type Content, PIECE_BYTES } from '../base/change.ts';
import { hashContent, readContent, sameContent } from './read-content.ts';

/** The same bytes with every window given, holes included. */
function withoutHoles(data: Buffer): Content {
	return {
		size: data.length,
		*pieces() {
			for (let offset = 0; offset < data.length; offset += PIECE_BYTES) {
				yield { offset, data: data.subarray(offset, offset + PIECE_BYTES) };
			}
		},
	};
}

/** A few windows, each of zeros or of one byte, and a tail. */
const sparse = fc
	.tuple(fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 4 }), fc.integer({ min: 0, max: 9 }))
	.map(([windows, tail]) =>
		Buffer.concat([...windows.map((byte) => Buffer.alloc(PIECE_BYTES, byte)), Buffer.alloc(tail)]),
	);

describe('reading a content', () => {
	it('sees zeros in holes: hash and bytes are those of the plain file', () => {
		fc.assert(
			fc.property(sparse, (data) => {
				expect(hashContent(contentOf(data))).toBe(sha256(data));
				expect(readContent(contentOf(data)).equals(data)).toBe(true);
				expect(sameContent(contentOf(data), withoutHoles(data))).toBe(true);
			}),
		);
	});

	it('tells contents apart that differ anywhere', () => {
		fc.assert(
			fc.property(sparse, sparse, (a, b) => {
				expect(sameContent(contentOf(a), withoutHoles(b))).toBe(a.equals(b));
			}),
		);
	});
});
