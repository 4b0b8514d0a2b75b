import { describe, expect, it } from 'vitest';
import { Refusal } from '../base/refusal.ts';
import { checkTag, parseRef, type RefStore, resolveRef } from './refs.ts';

/** Snapshots 1 <- 2 <- 3, and 4 made from 2; `mine` is 2. */
function graph(position: number, changed: boolean): RefStore {
	const parents = new Map<number, number | null>([
		[1, null],
		[2, 1],
		[3, 2],
		[4, 2],
	]);
	return {
		head: { values: () => ({ position, changed }) },
		snapshots: {
			get: (id) => {
				const parent = parents.get(id);
				return parent === undefined ? null : { id, parent };
			},
			byTag: (tag) => (tag === 'mine' ? { id: 2 } : null),
		},
	};
}

const refusalOf = (act: () => unknown) => {
	try {
		act();
	} catch (error) {
		if (error instanceof Refusal) return error;
		throw error;
	}
	throw new Error('nothing was refused');
};

describe('refs', () => {
	it.each([
		['base', 'base'],
		['@', 'now'],
		['3', 3],
		['mine', 2],
		['mine~1', 1],
		['4~', 2],
		['4~2', 1],
	])('%s is %s', (text, point) => {
		expect(resolveRef(graph(3, false), text)).toBe(point);
	});

	it('counts back from the present: the position comes first when the present differs from it', () => {
		expect(resolveRef(graph(3, true), '@~1')).toBe(3);
		expect(resolveRef(graph(3, true), '@~2')).toBe(2);
		expect(resolveRef(graph(3, false), '@~1')).toBe(2);
		expect(resolveRef(graph(4, false), '@~2')).toBe(1);
		expect(resolveRef(graph(4, false), '@~0')).toBe('now');
	});

	it.each(['9', 'other', '@~3', '1~1', '99999999999999999999'])('%s is refused as not there', (text) => {
		expect(refusalOf(() => resolveRef(graph(3, false), text))).toMatchObject({ kind: 'invalid', code: 'unknown-ref' });
	});

	it.each(['', '~1', '@@', 'a@b', '@1', 'base~1', '3~x', '3~1~1'])('%j is refused as malformed', (text) => {
		expect(refusalOf(() => parseRef(text))).toMatchObject({ kind: 'invalid', code: 'bad-ref' });
	});

	it.each(['', '12', 'base', 'a@b', 'a~1', 'a\nb'])('%j cannot be a tag', (tag) => {
		expect(refusalOf(() => checkTag(tag))).toMatchObject({ kind: 'usage', code: 'bad-tag' });
	});

	it.each(['1a', 'basement', 'before merge', 'ä'])('%j can be a tag, and is found by it', (tag) => {
		checkTag(tag);
		expect(parseRef(tag)).toEqual({ kind: 'tag', tag, back: 0 });
	});
});
