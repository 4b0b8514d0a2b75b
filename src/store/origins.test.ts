import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { inodeOf, LayerRig } from '../../test/support/layer-rig.ts';
import { type Content, PIECE_BYTES } from '../base/change.ts';
import { collectGarbage } from './gc.ts';
import { checkIntegrity } from './integrity.ts';
import { findOrigin, ORIGIN_CONTENT_BYTES, Origins } from './origins.ts';

/** Content of which only the given windows are not holes. */
function contentOf(size: number, pieces: readonly { offset: number; data: Buffer }[]): Content {
	return { size, pieces: () => pieces };
}

function whole(text: string): Content {
	return contentOf(Buffer.byteLength(text), [{ offset: 0, data: Buffer.from(text) }]);
}

const FILE = inodeOf({ kind: 'file', content: 'text', mode: 0o640 });

describe('Origins', () => {
	it('gives back what the base held when a path was touched first', () => {
		using rig = new LayerRig();
		const origins = new Origins(rig);
		expect(origins.firstTouch(rig.root, findOrigin('d/f\udcff', FILE, whole('text'), true))).toBe(true);

		const origin = origins.get(rig.root, 'd/f\udcff');
		expect(origin).toMatchObject({
			path: 'd/f\udcff',
			kind: 'file',
			mode: 0o640,
			size: 4,
			mtime: FILE.mtime,
			ctime: FILE.ctime,
			target: null,
			hash: createHash('sha256').update('text').digest(),
			trusted: true,
		});
		expect(origin === null ? null : origins.content(origin)?.toString()).toBe('text');
	});

	it('keeps the first origin of a path whatever is found later', () => {
		using rig = new LayerRig();
		const origins = new Origins(rig);
		origins.firstTouch(rig.root, findOrigin('f', null, null, true));
		expect(origins.firstTouch(rig.root, findOrigin('f', FILE, whole('text'), true))).toBe(false);
		expect(origins.get(rig.root, 'f')).toMatchObject({ kind: 'absent', hash: null, blob: null });
		expect(rig.number('select count(*) from blob')).toBe(0);
	});

	it('tells absent, link, directory and unread file apart', () => {
		using rig = new LayerRig();
		const origins = new Origins(rig);
		const link = inodeOf({ kind: 'symlink', target: 'to\udcff' });
		origins.firstTouch(rig.root, findOrigin('absent', null, null, false));
		origins.firstTouch(rig.root, findOrigin('link', link, null, true));
		origins.firstTouch(rig.root, findOrigin('unread', FILE, null, true));
		expect(
			origins.list(rig.root).map(({ path, kind, target, hash, trusted }) => [path, kind, target, hash, trusted]),
		).toEqual([
			['absent', 'absent', null, null, false],
			['link', 'symlink', 'to\udcff', null, true],
			['unread', 'file', null, null, true],
		]);
	});

	it('hashes content over the limit without keeping it', () => {
		using rig = new LayerRig();
		const origins = new Origins(rig);
		const size = ORIGIN_CONTENT_BYTES + 1;
		const data = Buffer.alloc(PIECE_BYTES, 7);
		const content = contentOf(size, [{ offset: PIECE_BYTES, data }]);
		origins.firstTouch(rig.root, findOrigin('big', { ...FILE, size }, content, true));

		const expected = Buffer.alloc(size);
		data.copy(expected, PIECE_BYTES);
		expect(origins.get(rig.root, 'big')).toMatchObject({
			hash: createHash('sha256').update(expected).digest(),
			blob: null,
		});
	});

	it('counts holes as zeros, in content and hash', () => {
		const size = 2 * PIECE_BYTES + 5;
		const found = findOrigin('f', { ...FILE, size }, contentOf(size, []), true);
		expect(found.data?.equals(Buffer.alloc(size))).toBe(true);
		expect(found.hash?.equals(createHash('sha256').update(Buffer.alloc(size)).digest())).toBe(true);
	});

	it('takes an empty file', () => {
		using rig = new LayerRig();
		const origins = new Origins(rig);
		origins.firstTouch(rig.root, findOrigin('f', { ...FILE, size: 0 }, contentOf(0, []), true));
		const origin = origins.get(rig.root, 'f');
		expect(origin === null ? null : origins.content(origin)).toEqual(Buffer.alloc(0));
	});

	it('forgets paths, so that the next touch is a first one', () => {
		using rig = new LayerRig();
		const origins = new Origins(rig);
		for (const path of ['a', 'b', 'c']) origins.firstTouch(rig.root, findOrigin(path, FILE, whole('text'), true));
		origins.forget(rig.root, ['a', 'c', 'none']);
		expect(origins.list(rig.root).map(({ path }) => path)).toEqual(['b']);
		expect(origins.has(rig.root, 'a')).toBe(false);
	});

	it('keeps content through gc until the last origin of it is forgotten', () => {
		using rig = new LayerRig();
		const origins = new Origins(rig);
		for (const path of ['a', 'b']) origins.firstTouch(rig.root, findOrigin(path, FILE, whole('text'), true));
		expect(rig.number('select count(*) from blob')).toBe(1);
		origins.forget(rig.root, ['a']);
		expect(collectGarbage(rig, { drop: [] }).blobs).toBe(0);
		expect(checkIntegrity(rig).ok).toBe(true);
		origins.forget(rig.root, ['b']);
		expect(collectGarbage(rig, { drop: [] }).blobs).toBe(1);
	});
});
