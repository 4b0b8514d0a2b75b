import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inode } from '../../test/support/file-content.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { readAll } from '../../test/support/tree-model.ts';
import { Store } from './store.ts';

const CREATED = { sec: 1, nsec: 0 };

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

function count(table: string): number {
	return store.db.prepare<number>(`select count(*) from ${table}`, 'value').get() ?? 0;
}

function snapshot(tag: string | null = null): number {
	return store.write(() => store.tree.snapshot({ trigger: 'manual', created: CREATED, tag }));
}

function putFile(name: string, data: string | Buffer = ''): number {
	return store.write(() => {
		const ino = store.tree.put(root, name, inode('file'));
		store.tree.write(ino, 0, Buffer.from(data));
		return ino;
	});
}

function text(ino: number, ref: number | 'now' = 'now'): string {
	return readAll(store.tree.at(ref), ino).toString();
}

describe('roots', () => {
	test('are one for each role, and any number of saved ones', () => {
		const home = store.write(() => store.tree.addRoot('home', '/home/x\udcff'));
		expect(store.tree.root('home')).toEqual(home);
		expect(store.tree.root('gitdir')).toBeNull();
		expect(() => store.write(() => store.tree.addRoot('home', null))).toThrow('file exists');
		store.write(() => {
			store.tree.addRoot('saved', null);
			store.tree.addRoot('saved', null);
		});
		expect(store.tree.roots().map(({ role }) => role)).toEqual(['project', 'home', 'saved', 'saved']);
	});

	test('can be laid over another directory', () => {
		store.write(() => store.tree.setBasePath(root, '/moved'));
		expect(store.tree.root('project')?.basePath).toBe('/moved');
	});

	test('stay when an older state is restored, without what they held', () => {
		putFile('f', 'text');
		const before = snapshot();
		const home = store.write(() => store.tree.addRoot('home', null).ino);
		store.write(() => store.tree.put(home, 'h', inode('file')));
		const after = snapshot();
		store.write(() => store.tree.restore(before, [root, home]));
		expect([...store.tree.at('now').walk(home)]).toEqual([{ path: '', ino: home }]);
		store.write(() => store.tree.put(home, 'new', inode('file')));
		expect(
			store.tree
				.at(after)
				.children(home)
				.map(([name]) => name),
		).toEqual(['h']);
	});

	test('are not a way out of each other', () => {
		const file = putFile('f');
		const home = store.write(() => store.tree.addRoot('home', null).ino);
		expect(() => store.write(() => store.tree.link(home, 'f', file))).toThrow('cross-device');
		expect(() => store.write(() => store.tree.rename(root, 'f', home, 'f'))).toThrow('cross-device');
	});
});

describe('an operation that POSIX forbids fails as it says, and changes nothing', () => {
	test.each<[name: string, code: string, operation: (file: number, directory: number) => unknown]>([
		['remove what is not there', 'ENOENT', () => store.tree.remove(root, 'none')],
		['rename what is not there', 'ENOENT', () => store.tree.rename(root, 'none', root, 'x')],
		['rename a whiteout', 'ENOENT', () => store.tree.rename(root, 'white', root, 'x')],
		['rename a directory below itself', 'EINVAL', (_, directory) => store.tree.rename(root, 'd', directory, 'x')],
		['link a directory', 'EPERM', (_, directory) => store.tree.link(root, 'x', directory)],
		['create in a file', 'ENOTDIR', (file) => store.tree.put(file, 'x', inode('file'))],
		['create in what is not there', 'ENOENT', () => store.tree.put(999, 'x', inode('file'))],
		['write to a directory', 'EISDIR', (_, directory) => store.tree.write(directory, 0, Buffer.from('x'))],
		['cut a symlink', 'EINVAL', () => store.tree.truncate(store.tree.put(root, 'l', inode('symlink')), 0)],
		['an empty name', 'EINVAL', () => store.tree.put(root, '', inode('file'))],
		['the name ..', 'EINVAL', () => store.tree.put(root, '..', inode('file'))],
		['a name with a slash', 'EINVAL', () => store.tree.whiteout(root, 'a/b')],
		['a name with a zero byte', 'EINVAL', (file) => store.tree.link(root, 'a\0', file)],
	])('%s: %s', (_, code, operation) => {
		const file = putFile('f', 'text');
		const directory = store.write(() => store.tree.put(root, 'd', inode('directory')));
		store.write(() => store.tree.whiteout(root, 'white'));
		const names = () => store.tree.at('now').children(root);
		const before = names();
		expect(() => store.write(() => operation(file, directory))).toThrow(expect.objectContaining({ code }));
		expect(names()).toEqual(before);
	});
});

describe('what changes nothing makes no version', () => {
	test.each<[name: string, again: (file: number) => unknown]>([
		['the same attributes', (file) => store.tree.setInode(file, store.tree.at('now').inode(file))],
		['the same bytes', (file) => store.tree.write(file, 1, Buffer.from('ex'))],
		['the same size', (file) => store.tree.truncate(file, 4)],
		['no bytes', (file) => store.tree.write(file, 100, Buffer.alloc(0))],
		['the same link', (file) => store.tree.link(root, 'f', file)],
		['a rename to itself', () => store.tree.rename(root, 'f', root, 'f')],
		['a rename between names of one inode', () => store.tree.rename(root, 'f', root, 'g')],
		['a whiteout of a whiteout', () => store.tree.whiteout(root, 'white')],
	])('%s', (_, again) => {
		const file = putFile('f', 'text');
		store.write(() => {
			const xattrs = new Map([['user.a', Buffer.from('1')]]);
			store.tree.setInode(file, { ...store.tree.at('now').inode(file), xattrs });
			store.tree.link(root, 'g', file);
			store.tree.whiteout(root, 'white');
		});
		snapshot();
		store.write(() => again(file));
		for (const table of ['inode', 'entry', 'chunk', 'xattr']) expect(count(`${table}_past`), table).toBe(0);
		expect(store.head.values().changed).toBe(false);
	});
});

describe('content', () => {
	test('of a blob that a snapshot holds is never overwritten, sealed or not', () => {
		const file = putFile('f', 'first');
		const first = snapshot();
		store.write(() => store.tree.write(file, 0, Buffer.from('FIRST')));
		expect([text(file, first), text(file)]).toEqual(['first', 'FIRST']);
		const second = snapshot();
		// The restored chunk is born at the head, and its blob is still open: it must not count as private.
		store.write(() => store.tree.restore(first, [root]));
		store.write(() => store.tree.write(file, 0, Buffer.from('other')));
		expect([text(file, first), text(file, second), text(file)]).toEqual(['first', 'FIRST', 'other']);
		store.tree.seal();
		expect([text(file, first), text(file, second), text(file)]).toEqual(['first', 'FIRST', 'other']);
	});

	test('that is written again and again before a snapshot takes no more room', () => {
		const file = putFile('log');
		store.write(() => store.tree.write(file, 0, Buffer.alloc(100_000, 'x')));
		const pages = () => store.db.pragma('page_count');
		const before = pages();
		for (let round = 0; round < 300; round++) {
			store.write(() => store.tree.write(file, 95_000, Buffer.alloc(5000, String(round))));
		}
		expect(pages()).toBe(before);
		expect(count('blob')).toBe(2);
	});

	test('that a file lost by being cut does not come back when it grows', () => {
		const file = putFile('f', 'secret and more');
		store.write(() => store.tree.truncate(file, 3));
		store.write(() => store.tree.truncate(file, 10));
		expect(text(file)).toBe('sec\0\0\0\0\0\0\0');
		snapshot();
		store.write(() => store.tree.truncate(file, 2));
		store.write(() => store.tree.truncate(file, 4));
		expect(text(file)).toBe('se\0\0');
	});

	test('is stored once when it is equal, and zeros are a hole, however they were written', () => {
		const files = ['a', 'b'].map((name) => putFile(name, Buffer.alloc(70_000, 'same')));
		const zeros = putFile('zeros', Buffer.alloc(200_000));
		const tail = putFile('tail', Buffer.concat([Buffer.from('data'), Buffer.alloc(100)]));
		const id = snapshot();
		expect(store.tree.seal()).toBe(2 * 2 + 4 + 1);
		expect(count('open')).toBe(0);
		expect(count('blob')).toBe(3);
		expect([...store.tree.at(id).content(zeros).pieces()]).toEqual([]);
		expect(store.blobs.size(store.tree.at(id).content(tail).chunks[0]?.[1] as number)).toBe(4);
		for (const file of files) expect(text(file, id)).toBe('same'.repeat(17_500));
		expect(readAll(store.tree.at('now'), zeros)).toEqual(Buffer.alloc(200_000));
		expect(count('chunk_past')).toBe(0);
	});

	test('of a file that goes before any snapshot goes with it', () => {
		putFile('f', 'x'.repeat(100_000));
		store.write(() => store.tree.remove(root, 'f'));
		expect([count('blob'), count('open'), count('chunk'), count('chunk_past')]).toEqual([0, 0, 0, 0]);
	});

	test('is sealed within a budget, piece by piece', () => {
		for (let at = 0; at < 5; at++) putFile(`f${at}`, `content ${at}`);
		snapshot();
		expect(store.tree.seal(0)).toBe(1);
		expect(count('open')).toBe(4);
		expect(store.tree.seal()).toBe(4);
		expect(store.tree.seal()).toBe(0);
	});
});

describe('a snapshot', () => {
	test('grew from the position, knows what it holds, and moves the position', () => {
		expect(store.snapshots.last()).toBeNull();
		putFile('f', 'four');
		expect(store.head.values()).toMatchObject({ position: 0, changed: true });
		const first = snapshot('tagged');
		expect(store.head.values()).toMatchObject({ head: 2, position: first, changed: false, files: 1, bytes: 4 });
		putFile('g', 'g');
		const second = snapshot();
		store.write(() => store.tree.restore(first, [root]));
		expect(store.head.values()).toMatchObject({ position: first, changed: false, files: 1, bytes: 4 });
		const third = snapshot();
		expect(store.snapshots.list().map(({ id, parent }) => [id, parent])).toEqual([
			[first, null],
			[second, first],
			[third, first],
		]);
		expect(store.snapshots.chain(third).map(({ id }) => id)).toEqual([third, first]);
		expect(store.snapshots.byTag('tagged')).toMatchObject({ id: first, files: 1, bytes: 4, trigger: 'manual' });
		expect(store.snapshots.next()).toBe(4);
	});

	test('keeps its tag from others unless they insist', () => {
		const [first, second] = [snapshot('a'), snapshot()];
		expect(() => snapshot('a')).toThrow('tag a is snapshot 1');
		expect(() => store.write(() => store.snapshots.retag(second, 'a'))).toThrow('tag a is snapshot 1');
		store.write(() => store.snapshots.retag(second, 'a', true));
		expect([store.snapshots.get(first)?.tag, store.snapshots.get(second)?.tag]).toEqual([null, 'a']);
		store.write(() => store.snapshots.retag(second, null));
		expect(store.snapshots.byTag('a')).toBeNull();
		expect(() => store.write(() => store.snapshots.retag(9, 'x'))).toThrow('no such snapshot: 9');
	});

	test('that does not exist is refused, and 0 is before everything', () => {
		putFile('f');
		snapshot();
		expect(() => store.tree.at(7)).toThrow('no such snapshot: 7');
		expect(() => store.tree.changes(1, 7, root)).toThrow('no such snapshot: 7');
		expect(() => store.write(() => store.tree.restore(0, [root]))).toThrow('no such snapshot: 0');
		expect([...store.tree.at(0).walk(root)]).toEqual([]);
		expect(store.tree.changes(0, 1, root).map(({ path }) => path)).toEqual(['', 'f']);
		expect(store.tree.changes(1, 0, root).map(({ path, after }) => [path, after])).toEqual([['f', null]]);
	});
});

test('a tree deeper than the stack is made, walked, compared and removed', () => {
	store.write(() => {
		let parent = store.tree.put(root, 'top', inode('directory'));
		for (let depth = 0; depth < 12_000; depth++) parent = store.tree.put(parent, 'd', inode('directory'));
	});
	snapshot();
	let walked = 0;
	for (const { ino } of store.tree.at('now').walk(root)) walked += ino === 0 ? 0 : 1;
	expect(walked).toBe(12_002);
	store.write(() => store.tree.remove(root, 'top'));
	expect(store.head.values().files).toBe(0);
	expect(count('inode')).toBe(1);
});
