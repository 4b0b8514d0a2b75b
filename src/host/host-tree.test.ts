import { execFileSync } from 'node:child_process';
import {
	chmodSync,
	existsSync,
	linkSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ordinaryAccount } from '../../test/support/accounts.ts';
import { asAccount } from '../../test/support/as-account.ts';
import { contentOf, inodeOf, isSparse } from '../../test/support/host-trees.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import type { Change } from '../base/change.ts';
import type { ApplyOptions } from './apply-options.ts';
import { HostTree } from './host-tree.ts';
import { getXattr, setXattr } from './xattr.ts';

let place: TemporaryDirectory;
let tree: HostTree;

const PLAIN: ApplyOptions = { durable: false, owner: 'exact' };

beforeEach(() => {
	place = temporaryDirectory();
	mkdirSync(place.join('tree'));
	tree = HostTree.open(place.join('tree'), 'rw');
});

afterEach(() => {
	tree.close();
	place[Symbol.dispose]();
});

function change(path: string, given: Partial<Change>): Change {
	return { path, before: null, after: null, content: null, link: null, from: null, ...given };
}

function newFile(path: string, text: string, mode = 0o644): Change {
	return change(path, { after: inodeOf({ kind: 'file', mode, size: text.length }), content: contentOf(text) });
}

describe('reading', () => {
	test('a link in the middle of a path leads nowhere, one at its end is a link', () => {
		place.write('outside/secret', 'x');
		symlinkSync(place.join('outside'), place.join('tree/link'));
		expect(tree.stat('link')).toMatchObject({ kind: 'symlink', target: place.join('outside') });
		expect(tree.stat('link/secret')).toBeNull();
		expect(tree.fingerprint('link/secret')).toBeNull();
		expect(() => tree.list('link')).toThrow(/not a directory|symbolic links/);
		expect(() => tree.content('link/secret')).toThrow(/no such file/);
		expect(() => tree.content('link')).toThrow(/invalid argument/);
	});

	test('a path that leaves the tree is refused', () => {
		for (const path of ['..', '../x', 'a/../../x', '/etc', 'a//b', '.', 'a\0b']) {
			expect(() => tree.stat(path), path).toThrow(/invalid argument/);
			expect(() => tree.apply([newFile(path, '')], PLAIN), path).toThrow(/invalid argument/);
		}
	});

	test('the root itself may be named by a link', () => {
		symlinkSync('tree', place.join('alias'));
		const other = HostTree.open(place.join('alias'), 'ro');
		place.write('tree/file', 'x');
		expect(other.list('')).toEqual(['file']);
		expect(other.stat('')?.kind).toBe('directory');
		expect(() => other.apply([], PLAIN)).toThrow(/read only/);
		other.close();
	});

	test('a FIFO is never opened', () => {
		execFileSync('mkfifo', [place.join('tree/fifo')]);
		expect(tree.stat('fifo')?.kind).toBe('fifo');
		expect(() => tree.content('fifo')).toThrow(/invalid argument/);
		expect(() => [...tree.content('fifo', 10).pieces()]).toThrow(/invalid argument/);
	});

	test('content comes in windows, holes left out, and a file that became shorter is stale', () => {
		const path = place.write('tree/file', Buffer.concat([Buffer.alloc(70_000, 'a')]));
		truncateSync(path, 1_000_000);
		const content = tree.content('file');
		expect(content.size).toBe(1_000_000);
		expect([...content.pieces()].map(({ offset, data }) => [offset, data.length])).toEqual([
			[0, 65_536],
			[65_536, 65_536],
		]);
		truncateSync(path, 100);
		expect(() => [...content.pieces()]).toThrow(/stale/);
	});

	test('many names are looked at in one go', () => {
		place.write('tree/d/one', '1');
		place.write('tree/d/two', '22');
		const sizes = tree.statAll('d').map(([name, stat]) => [name, stat.size]);
		expect(new Map(sizes as [string, number][])).toEqual(
			new Map([
				['one', 1],
				['two', 2],
			]),
		);
	});

	test('paths longer than PATH_MAX are reached', () => {
		const name = 'n'.repeat(200);
		const paths = Array.from(
			{ length: 30 },
			(_, depth) =>
				Array(depth + 1)
					.fill(name)
					.join('/') as string,
		);
		const directories = paths.map((path) => change(path, { after: inodeOf({ kind: 'directory' }) }));
		const file = `${paths.at(-1)}/file`;
		tree.apply([...directories, newFile(file, 'deep')], PLAIN);
		expect(tree.stat(file)?.size).toBe(4);
		expect([...tree.content(file).pieces()].map(({ data }) => data.toString())).toEqual(['deep']);
		tree.apply(
			[...paths, file].map((path) => change(path, {})),
			PLAIN,
		);
		expect(tree.list('')).toEqual([]);
	});
});

describe('applying', () => {
	test('nothing is written through a link', () => {
		mkdirSync(place.join('outside'));
		symlinkSync(place.join('outside'), place.join('tree/link'));
		expect(() => tree.apply([newFile('link/file', 'x')], PLAIN)).toThrow(/link\/file: not a directory/);
		symlinkSync(place.write('outside/target', 'old'), place.join('tree/file'));
		tree.apply([newFile('file', 'new')], PLAIN);
		expect(readFileSync(place.join('outside/target'), 'utf8')).toBe('old');
		expect(readFileSync(place.join('tree/file'), 'utf8')).toBe('new');
	});

	test('a directory that holds what is not listed stays, with all it holds', () => {
		place.write('tree/d/listed', '1');
		place.write('tree/d/unlisted', '2');
		const changes = [change('d', {}), change('d/listed', {})];
		expect(() => tree.apply(changes, PLAIN)).toThrow(/d: directory not empty/);
		expect(readdirSync(place.join('tree/d'))).toEqual(['unlisted']);
	});

	test('an unlisted name of the same inode keeps its bytes and its mode', () => {
		place.write('tree/a', 'old');
		linkSync(place.join('tree/a'), place.join('tree/unlisted'));
		const before = lstatSync(place.join('tree/unlisted')).mode;
		tree.apply([change('a', { after: inodeOf({ kind: 'file', mode: 0o600, size: 3 }) })], PLAIN);
		expect(readFileSync(place.join('tree/a'), 'utf8')).toBe('old');
		expect(lstatSync(place.join('tree/a')).mode & 0o7777).toBe(0o600);
		expect(lstatSync(place.join('tree/unlisted')).mode).toBe(before);
	});

	test('names of one inode are one inode afterwards', () => {
		const inode = inodeOf({ kind: 'file', size: 3 });
		place.write('tree/c', 'own');
		tree.apply(
			[
				change('c', { after: inode, link: 'x' }),
				change('a', { after: inode, content: contentOf('abc'), link: 'x' }),
				change('b', { after: inode, link: 'x' }),
			],
			PLAIN,
		);
		const stats = ['a', 'b', 'c'].map((name) => lstatSync(place.join('tree', name)));
		expect(new Set(stats.map((stat) => stat.ino)).size).toBe(1);
		expect(stats[0]?.nlink).toBe(3);
		expect(readFileSync(place.join('tree/c'), 'utf8')).toBe('abc');
	});

	test('only what changes of an inode in place is written', () => {
		const path = place.write('tree/file', 'text');
		const before = tree.stat('file');
		if (before === null) throw new Error('the file is gone');
		tree.apply([change('file', { before, after: { ...before, mode: 0o400 } })], PLAIN);
		expect(tree.stat('file')).toMatchObject({ ino: before.ino, mode: 0o400, mtime: before.mtime });
		expect(readFileSync(path, 'utf8')).toBe('text');
	});

	test('holes stay holes', () => {
		truncateSync(place.write('tree/sparse', 'x'), 5_000_000);
		const after = inodeOf({ kind: 'file', size: 5_000_000 });
		tree.apply([change('copy', { after, content: tree.content('sparse') })], PLAIN);
		expect(isSparse(place.join('tree/copy'))).toBe(true);
		expect(lstatSync(place.join('tree/copy')).size).toBe(5_000_000);
	});

	test('a file that cannot be finished leaves the old one and no trace', () => {
		place.write('tree/file', 'old');
		const content = {
			size: 10,
			pieces() {
				throw new Error('no more');
			},
		};
		const after = inodeOf({ kind: 'file', size: 10 });
		expect(() => tree.apply([change('file', { after, content })], PLAIN)).toThrow('no more');
		expect(readdirSync(place.join('tree'))).toEqual(['file']);
		expect(readFileSync(place.join('tree/file'), 'utf8')).toBe('old');
	});

	test('what a run with this token left is taken away by the next', () => {
		place.write('tree/d/.dropcloth-t1', 'half');
		place.write('tree/d/x', '1');
		tree.apply([change('d/x', {}), change('d', {})], { ...PLAIN, token: 't1', resumed: true });
		expect(existsSync(place.join('tree/d'))).toBe(false);
	});

	test('new files do not get the ACL that their directory hands down', () => {
		mkdirSync(place.join('tree/d'));
		setXattr(place.join('tree/d'), 'system.posix_acl_default', acl([1, 7], [2, 7, 1234], [4, 5], [16, 7], [32, 5]));
		const directory = change('d/sub', { after: inodeOf({ kind: 'directory' }) });
		tree.apply([newFile('d/file', 'x', 0o640), directory], PLAIN);
		expect(tree.stat('d/file')).toMatchObject({ mode: 0o640, xattrs: new Map() });
		expect(tree.stat('d/sub')).toMatchObject({ mode: 0o755, xattrs: new Map() });
	});

	test('an ACL and the mode that it goes with are kept', () => {
		const value = acl([1, 6], [2, 4, 1234], [4, 0], [16, 4], [32, 0]);
		const xattrs = new Map([['system.posix_acl_access', value]]);
		const after = inodeOf({ kind: 'file', mode: 0o640, size: 1, xattrs });
		tree.apply([change('file', { after, content: contentOf('x') })], PLAIN);
		expect(tree.stat('file')).toMatchObject({ mode: 0o640, xattrs });
	});

	test('a whiteout, two changes of a path, and a file that has no bytes are bugs of the caller', () => {
		const whiteout = change('x', { after: { ...inodeOf({ kind: 'char' }), kind: 'whiteout' } });
		expect(() => tree.apply([whiteout], PLAIN)).toThrow(/whiteout of x/);
		expect(() => tree.apply([newFile('x', ''), change('x', {})], PLAIN)).toThrow(/two changes of one path: x/);
		const bare = change('x', { after: inodeOf({ kind: 'file' }) });
		expect(() => tree.apply([bare], PLAIN)).toThrow(/brings no content/);
		expect(tree.list('')).toEqual([]);
	});

	test('more directories than are kept open are worked in at once', () => {
		const names = Array.from({ length: 150 }, (_, index) => `d${index}`);
		const inode = inodeOf({ kind: 'file', size: 1 });
		const directories = names.map((name) => change(name, { after: inodeOf({ kind: 'directory', mode: 0o500 }) }));
		const links = names.map((name) => change(`${name}/f`, { after: inode, content: contentOf('x'), link: 'one' }));
		tree.apply([...directories, ...links], PLAIN);
		expect(tree.stat('d0/f')?.nlink).toBe(150);
		expect(names.every((name) => tree.stat(name)?.mode === 0o500)).toBe(true);
		tree.apply(
			[...directories, ...links].map(({ path }) => change(path, {})),
			PLAIN,
		);
		expect(tree.list('')).toEqual([]);
	});

	test('each write is announced with its change', () => {
		const steps: number[] = [];
		const directory = change('d', { after: inodeOf({ kind: 'directory' }) });
		tree.apply([newFile('d/file', 'x'), directory], { ...PLAIN, step: (index) => steps.push(index) });
		expect(steps).toEqual([1, 0, 0, 1]);
	});
});

describe('for an ordinary user', () => {
	const user = ordinaryAccount();

	beforeEach(() => user.own(place.path));

	test('a file and a directory of mode 000 are read and stay as they are', () => {
		place.write('tree/d/file', 'hidden');
		user.own(place.path);
		setXattr(place.join('tree/d/file'), 'user.x', Buffer.from('1'));
		chmodSync(place.join('tree/d/file'), 0);
		chmodSync(place.join('tree/d'), 0);
		const times = lstatSync(place.join('tree/d'), { bigint: true }).mtimeNs;
		asAccount(user, () => {
			expect(tree.list('d')).toEqual(['file']);
			expect(tree.stat('d/file')).toMatchObject({ mode: 0, xattrs: new Map([['user.x', Buffer.from('1')]]) });
			expect([...tree.content('d/file').pieces()].map(({ data }) => data.toString())).toEqual(['hidden']);
			const reader = HostTree.open(place.join('tree'), 'ro');
			expect(() => reader.list('d')).toThrow(/permission denied/);
			reader.close();
		});
		expect(lstatSync(place.join('tree/d/file')).mode & 0o7777).toBe(0);
		expect(lstatSync(place.join('tree/d'), { bigint: true })).toMatchObject({ mode: 0o040000n, mtimeNs: times });
	});

	test('a directory that was opened up is told, shut again, and shut by the next run after a kill', () => {
		place.write('tree/d/file', 'x');
		user.own(place.path);
		chmodSync(place.join('tree/d'), 0o500);
		const told: [string, number][] = [];
		asAccount(user, () => {
			tree.apply([change('d/file', {})], { ...PLAIN, onUnlock: (path, mode) => told.push([path, mode]) });
			expect(told).toEqual([['d', 0o500]]);
			expect(lstatSync(place.join('tree/d')).mode & 0o7777).toBe(0o500);
			chmodSync(place.join('tree/d'), 0o700);
			tree.apply([change('d/file', {})], { ...PLAIN, relock: new Map([...told, ['gone', 0]]) });
		});
		expect(lstatSync(place.join('tree/d')).mode & 0o7777).toBe(0o500);
	});

	test('after a failure an opened directory is shut again', () => {
		place.write('tree/d/e/unlisted', 'x');
		user.own(place.path);
		chmodSync(place.join('tree/d'), 0o500);
		asAccount(user, () => {
			expect(() => tree.apply([change('d/e', {})], PLAIN)).toThrow(/not empty/);
		});
		expect(lstatSync(place.join('tree/d')).mode & 0o7777).toBe(0o500);
	});

	test('owners and privileged attributes that cannot be had are told, or refused where they must be exact', () => {
		const lost: string[] = [];
		const xattrs = new Map([
			['trusted.x', Buffer.from('1')],
			['user.y', Buffer.from('2')],
		]);
		const after = { ...inodeOf({ kind: 'file', size: 1, xattrs }), uid: 0, gid: 0 };
		const changes = [change('file', { after, content: contentOf('x') })];
		asAccount(user, () => {
			expect(() => tree.apply(changes, PLAIN)).toThrow(/chown file: operation not permitted/);
			tree.apply(changes, { ...PLAIN, owner: 'possible', onLost: (path, what) => lost.push(`${path} ${what}`) });
		});
		expect(lost).toEqual(['file owner', 'file trusted.x']);
		expect(getXattr(place.join('tree/file'), 'user.y')).toEqual(Buffer.from('2'));
		rmSync(place.join('tree/file'));
	});
});

/** An ACL as the kernel's attribute has it (linux/posix_acl_xattr.h): version 2, then tag, permissions and id of each. */
function acl(...entries: readonly (readonly [tag: number, permissions: number, id?: number])[]): Buffer {
	const bytes = Buffer.alloc(4 + entries.length * 8);
	bytes.writeUInt32LE(2);
	entries.forEach(([tag, permissions, id], index) => {
		bytes.writeUInt16LE(tag, 4 + index * 8);
		bytes.writeUInt16LE(permissions, 6 + index * 8);
		bytes.writeUInt32LE(id ?? 0xffffffff, 8 + index * 8);
	});
	return bytes;
}

test('a tree is synced', () => {
	writeFileSync(place.join('tree/file'), 'x');
	tree.sync();
	expect(tree.fingerprint('file')).toMatchObject({ kind: 'file', size: 1, mode: 0o644 });
});
