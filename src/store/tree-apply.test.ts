import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { change, contentOf, fileChange, inode } from '../../test/support/file-content.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { dumpView, readAll } from '../../test/support/tree-model.ts';
import type { Change } from '../base/change.ts';
import { WHITEOUT } from '../base/inode.ts';
import { Store } from './store.ts';

let place: TemporaryDirectory;
let store: Store;
let root: number;
beforeEach(() => {
	place = temporaryDirectory();
	store = Store.create(place.join('s.db'));
	root = store.write(() => store.tree.addRoot('project', '/base').ino);
});
afterEach(() => {
	store.close();
	place[Symbol.dispose]();
});

function apply(...changes: Change[]) {
	return store.write(() => store.tree.apply(root, changes));
}

function snapshot(): number {
	return store.write(() => store.tree.snapshot({ trigger: 'manual', created: { sec: 1, nsec: 0 } }));
}

function paths(): string[] {
	return [...store.tree.at('now').walk(root)].map(({ path, ino }) => (ino === 0 ? `${path} (deleted)` : path)).sort();
}

function inoOf(path: string): number {
	return store.tree.at('now').resolve(root, path) as number;
}

function textOf(path: string): string {
	return readAll(store.tree.at('now'), inoOf(path)).toString();
}

const directory = inode('directory');

describe('applying changes', () => {
	test('makes files, directories, links, special files and whiteouts, in any order', () => {
		const target = '/over/there\udcff';
		const changes = [
			fileChange('d/e/f', 'text'),
			change('d/e', inode('directory', { opaque: true })),
			change('link', inode('symlink', { target, size: 13 })),
			change('d', directory),
			change('pipe', inode('fifo')),
			change('null', inode('char', { rdev: 0x103 })),
			change('d/gone', WHITEOUT),
		];
		expect(apply(...changes)).toEqual({ entries: 7, inodes: 6 });
		expect(paths()).toEqual(['', 'd', 'd/e', 'd/e/f', 'd/gone (deleted)', 'link', 'null', 'pipe']);
		expect(store.tree.at('now').inode(inoOf('d/e'))).toEqual({ ...inode('directory', { opaque: true }), nlink: 1 });
		expect(store.tree.at('now').inode(inoOf('link')).target).toBe(target);
		expect(textOf('d/e/f')).toBe('text');
		expect(apply(...changes)).toEqual({ entries: 0, inodes: 0 });
	});

	test('writes nothing when only atime and ctime differ, and says so', () => {
		const later = { sec: 1_800_000_000, nsec: 1 };
		apply(fileChange('f', 'text'));
		snapshot();
		const touched = change('f', inode('file', { size: 4, atime: later, ctime: later }));
		expect(apply(touched)).toEqual({ entries: 0, inodes: 0 });
		expect(store.head.values().changed).toBe(false);
		expect(
			apply({ ...touched, after: inode('file', { size: 4, atime: later, ctime: later, mtime: later }) }).inodes,
		).toBe(1);
		expect(store.tree.at('now').inode(inoOf('f'))).toMatchObject({ atime: later, ctime: later });
	});

	test('keeps the inode of a file that stays or is renamed, and of a directory with all that it holds', () => {
		apply(change('d', directory), fileChange('d/f', 'text'), fileChange('g', 'other'));
		const [d, f, g] = [inoOf('d'), inoOf('d/f'), inoOf('g')];
		apply(
			change('d', null),
			change('d/f', null),
			change('moved', directory, { from: 'd' }),
			fileChange('moved/f', 'text', { from: 'd/f' }),
			fileChange('g', 'changed'),
		);
		expect([inoOf('moved'), inoOf('moved/f'), inoOf('g')]).toEqual([d, f, g]);
		expect(textOf('g')).toBe('changed');
	});

	test('moves what a renamed directory holds even if the list does not mention it', () => {
		apply(change('d', directory), change('d/e', directory), fileChange('d/e/f', 'text'));
		const f = inoOf('d/e/f');
		apply(change('d', null), change('moved', directory, { from: 'd' }), fileChange('moved/e/new', 'x'));
		expect(paths()).toEqual(['', 'moved', 'moved/e', 'moved/e/f', 'moved/e/new']);
		expect(inoOf('moved/e/f')).toBe(f);
	});

	test('exchanges two names', () => {
		apply(fileChange('a', 'first'), fileChange('b', 'second'));
		const [a, b] = [inoOf('a'), inoOf('b')];
		apply(fileChange('a', 'second', { from: 'b' }), fileChange('b', 'first', { from: 'a' }));
		expect([inoOf('a'), inoOf('b'), textOf('a'), textOf('b')]).toEqual([b, a, 'second', 'first']);
	});

	test('turns a directory into a file and back, with all that it held', () => {
		apply(change('x', directory), fileChange('x/f', 'text'));
		apply(fileChange('x', 'now a file'));
		expect(paths()).toEqual(['', 'x']);
		apply(change('x', inode('directory', { opaque: true })));
		expect(paths()).toEqual(['', 'x']);
		expect(store.head.values()).toMatchObject({ files: 1, bytes: 0 });
	});

	test('removes a directory with what it holds, but not what was moved out of it', () => {
		apply(change('d', directory), change('d/e', directory), fileChange('d/e/f', '1'), fileChange('d/g', '2'));
		apply(change('d', null), change('d/e/f', null), fileChange('kept', '1', { from: 'd/e/f' }));
		expect(paths()).toEqual(['', 'kept']);
		expect(textOf('kept')).toBe('1');
		expect(store.head.values().files).toBe(1);
	});

	test('refuses a path whose directory is missing, deleted or none, and a root that is no directory', () => {
		apply(fileChange('f', 'text'), change('gone', WHITEOUT));
		for (const [path, code] of [
			['none/x', 'ENOENT'],
			['gone/x', 'ENOENT'],
			['f/x', 'ENOTDIR'],
		] as const) {
			expect(() => apply(fileChange(path, ''))).toThrow(expect.objectContaining({ code }));
		}
		expect(() => apply(change('f', null), fileChange('f/x', ''))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
		expect(() => apply(change('../b', inode('fifo')))).toThrow(expect.objectContaining({ code: 'EINVAL' }));
		expect(() => apply(change('', null))).toThrow('must stay a directory');
		expect(() => apply(change('f', null), change('f', null))).toThrow('two changes of one path');
		expect(() => apply(change('d', directory, { link: '1' }), change('e', directory, { link: '1' }))).toThrow('link');
		expect(paths()).toEqual(['', 'f', 'gone (deleted)']);
	});

	test('refuses a file without its content, as a mistake of the caller', () => {
		expect(() => apply(change('f', inode('file', { size: 3 })))).toThrow('f is new but has no content');
		apply(fileChange('f', 'text'));
		expect(() => apply(change('f', inode('file', { size: 3 })))).toThrow('another size but no new content');
		const changes = [fileChange('f', 'other')];
		const nothing = store.tree.stage([]);
		expect(() => store.write(() => store.tree.apply(root, changes, nothing))).toThrow('was not staged');
	});
});

describe('applying changes to linked files', () => {
	const linked = (path: string, text: string, more: Partial<Change> = {}) =>
		fileChange(path, text, { link: '7', ...more });

	function links(path: string): number {
		return store.tree.at('now').inode(inoOf(path)).nlink;
	}

	beforeEach(() => {
		apply(linked('a', 'text'), { ...linked('b', 'text'), content: null });
	});

	test('makes one inode of several names', () => {
		expect(inoOf('a')).toBe(inoOf('b'));
		expect([links('a'), textOf('b')]).toEqual([2, 'text']);
		expect(apply(linked('a', 'text'), linked('b', 'text'))).toEqual({ entries: 0, inodes: 0 });
	});

	test('lets a name join, and another leave', () => {
		const ino = inoOf('a');
		apply(linked('a', 'text'), { ...linked('b', 'text'), content: null }, { ...linked('c', 'text'), content: null });
		expect([inoOf('c'), links('a')]).toEqual([ino, 3]);
		apply(change('b', null));
		expect([inoOf('a'), inoOf('c'), links('a')]).toEqual([ino, ino, 2]);
	});

	test('separates a name with its own content, or with the content that it shared', () => {
		apply(fileChange('b', 'own'));
		expect([inoOf('a') === inoOf('b'), links('a'), links('b'), textOf('a'), textOf('b')]).toEqual([
			false,
			1,
			1,
			'text',
			'own',
		]);
		apply(linked('a', 'text'), linked('b', 'text'));
		apply(change('b', inode('file', { size: 4, mode: 0o600 })));
		expect([inoOf('a') === inoOf('b'), textOf('a'), textOf('b')]).toEqual([false, 'text', 'text']);
	});

	test('separates a name whose blob is still open without sharing what may be overwritten', () => {
		store.write(() => store.tree.write(inoOf('a'), 0, Buffer.from('TEXT')));
		apply(change('b', inode('file', { size: 4, mode: 0o600 })));
		store.write(() => store.tree.write(inoOf('a'), 0, Buffer.from('open')));
		expect([textOf('a'), textOf('b')]).toEqual(['open', 'TEXT']);
		store.write(() => store.tree.write(inoOf('b'), 0, Buffer.from('b is')));
		expect([textOf('a'), textOf('b')]).toEqual(['open', 'b is']);
	});

	test('follows a rename of one of them', () => {
		const ino = inoOf('a');
		apply(change('a', null), linked('b', 'text'), { ...linked('z', 'text', { from: 'a' }), content: null });
		expect([inoOf('b'), inoOf('z'), links('z')]).toEqual([ino, ino, 2]);
		expect(paths()).toEqual(['', 'b', 'z']);
	});

	test('leaves names alone that the list does not mention', () => {
		apply(change('d', directory), linked('a', 'text'), linked('b', 'text'), linked('d/c', 'text'));
		apply(fileChange('b', 'alone'), change('d', null));
		expect([links('a'), textOf('a'), textOf('b')]).toEqual([1, 'text', 'alone']);
	});
});

describe('content that is staged', () => {
	test('has holes where its windows are left out or hold only zeros', () => {
		const data = Buffer.concat([
			Buffer.alloc(65_536),
			Buffer.alloc(65_536, 'x'),
			Buffer.alloc(65_536),
			Buffer.from('end'),
		]);
		const hole = { size: data.length, pieces: () => [{ offset: 65_536, data: Buffer.alloc(65_536, 'x') }] };
		const [first, second] = [
			fileChange('a', data),
			change('b', inode('file', { size: data.length }), { content: hole }),
		];
		const staged = store.tree.stage([first, second]);
		expect(staged.of(first.content as never)?.chunks.map(([idx]) => idx)).toEqual([1, 3]);
		expect(staged.of(hole)?.chunks).toEqual([staged.of(first.content as never)?.chunks[0]]);
		store.write(() => store.tree.apply(root, [first, second], staged));
		expect(readAll(store.tree.at('now'), inoOf('a'))).toEqual(data);
		expect([...store.tree.at('now').content(inoOf('b')).pieces()].map(({ offset }) => offset)).toEqual([65_536]);
	});

	test('is cut to the size of its inode when the file grew while it was read', () => {
		const grown = change('f', inode('file', { size: 3 }), { content: contentOf('longer than said') });
		apply(grown);
		expect(textOf('f')).toBe('lon');
	});

	test('in windows of another kind is refused, as a mistake of its maker', () => {
		const odd = { size: 9, pieces: () => [{ offset: 5, data: Buffer.from('text') }] };
		expect(() => apply(change('f', inode('file', { size: 9 }), { content: odd }))).toThrow('windows of 65536');
	});

	test('fails as its reader fails, and the tree stays as it was', () => {
		const broken = {
			size: 9,
			pieces: () => {
				throw new Error('vanished');
			},
		};
		expect(() => apply(fileChange('ok', 'x'), change('f', inode('file', { size: 9 }), { content: broken }))).toThrow(
			'vanished',
		);
		expect(paths()).toEqual(['']);
	});
});

test('the difference of two states, applied to the first, gives the second: in another store too', () => {
	apply(change('d', directory), fileChange('d/f', 'x'.repeat(70_000)), change('w', WHITEOUT));
	const first = snapshot();
	apply(change('d', null), change('d/f', null), fileChange('w', 'back'), change('e', directory, { from: 'd' }));
	const second = snapshot();
	using other = temporaryDirectory();
	const copy = Store.create(other.join('s.db'));
	const copyRoot = copy.write(() => copy.tree.addRoot('project', null).ino);
	for (const [a, b] of [
		[0, first],
		[first, second],
		[second, first],
	] as const) {
		copy.write(() => copy.tree.apply(copyRoot, store.tree.changes(a, b, root)));
		expect(dumpView(copy.tree.at('now'), copyRoot)).toEqual(dumpView(store.tree.at(b), root));
	}
	copy.close();
});
