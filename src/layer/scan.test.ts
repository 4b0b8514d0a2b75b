import { execFileSync } from 'node:child_process';
import {
	chmodSync,
	linkSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	renameSync,
	rmSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Account, ordinaryAccount } from '../../test/support/accounts.ts';
import { asAccount } from '../../test/support/as-account.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import type { Change } from '../base/change.ts';
import { systemClock } from '../base/clock.ts';
import { closeFd, makeDirectoryIn, makeNodeIn, openIn } from '../host/entries.ts';
import { AT_FDCWD, O_DIRECTORY, O_PATH } from '../host/open-flags.ts';
import { setXattr } from '../host/xattr.ts';
import { rememberUpper } from './remember-upper.ts';
import { type ScanOptions, scanUpper } from './scan.ts';
import type { ScanMemory } from './scan-memory.ts';

let place: TemporaryDirectory;
let upper: string;

beforeEach(() => {
	place = temporaryDirectory();
	upper = place.join('upper');
	mkdirSync(upper);
});
afterEach(() => place[Symbol.dispose]());

/** What is remembered of the directory as it is, with nothing to be read again. */
function settled(unversioned?: (path: string) => boolean): ScanMemory {
	return rememberUpper(upper, null, () => true, unversioned) as ScanMemory;
}

function scan(memory: ScanMemory | null, options?: ScanOptions) {
	const found = scanUpper(upper, memory, options);
	found.close();
	return found;
}

const pathsOf = (changes: readonly Change[]) => changes.map(({ path }) => path).sort();

function textOf(change: Change | undefined): string {
	const pieces = [...(change?.content?.pieces() ?? [])].map(({ data }) => Buffer.from(data));
	return Buffer.concat(pieces).toString();
}

function inDirectory(path: string, work: (directory: number) => void): void {
	const fd = openIn(AT_FDCWD, path, O_PATH | O_DIRECTORY);
	try {
		work(fd);
	} finally {
		closeFd(fd);
	}
}

describe('a scan', () => {
	it('finds nothing in a directory that is as it was, and gives back the very same memory', () => {
		place.write('upper/d/file', 'text');
		const memory = settled();
		const found = scan(memory);
		expect(found.changes).toEqual([]);
		expect(found.memory).toBe(memory);
	});

	it('finds bytes that were changed with size and mtime put back', () => {
		const file = place.write('upper/file', 'aaaa');
		utimesSync(file, 1, 1);
		const memory = settled();
		writeFileSync(file, 'bbbb');
		utimesSync(file, 1, 1);
		const found = scanUpper(upper, memory);
		expect(pathsOf(found.changes)).toEqual(['file']);
		expect(textOf(found.changes[0])).toBe('bbbb');
	});

	it('reads a file again whose ctime lies within the last tick before the scan began', () => {
		const file = place.write('upper/file', 'aaaa');
		const memory = settled();
		const { ctimeMs } = lstatSync(file);
		const now = { sec: Math.floor(ctimeMs / 1000), nsec: Math.floor(ctimeMs % 1000) * 1_000_000 };
		const racy = scan(null, { now }).memory;
		expect(pathsOf(scan(racy).changes)).toContain('file');
		expect(pathsOf(scan(memory).changes)).toEqual([]);
	});

	it('is not made to read again for ever by an mtime in the future', () => {
		const file = place.write('upper/file', 'x');
		utimesSync(file, 4e9, 4e9);
		expect(scan(settled()).changes).toEqual([]);
	});

	it('reads a file again that is said to be mapped, and the next time too', () => {
		place.write('upper/d/mapped', 'x');
		const first = scan(settled(), { alsoRehash: new Set(['d/mapped']) });
		expect(pathsOf(first.changes)).toEqual(['d/mapped']);
		expect(pathsOf(scan(first.memory).changes)).toEqual(['d/mapped']);
	});

	it('restricted to some directories sees these, what is new in them, and nothing else', () => {
		for (const name of ['a/x', 'a/sub/y', 'b/z']) place.write(`upper/${name}`, 'old');
		const memory = settled();
		for (const name of ['a/x', 'a/sub/y', 'b/z', 'a/fresh/deep/w']) place.write(`upper/${name}`, 'newer');
		const found = scan(memory, { only: new Set(['a']) });
		expect(pathsOf(found.changes)).toEqual(['a', 'a/fresh', 'a/fresh/deep', 'a/fresh/deep/w', 'a/x']);
		expect(pathsOf(scan(found.memory).changes)).toEqual(expect.arrayContaining(['a/sub/y', 'b/z']));
	});

	it('restricted to a directory that it does not know finds it in the nearest that it knows', () => {
		place.write('upper/a/x', '');
		const memory = settled();
		place.write('upper/a/new/deep/file', '');
		const found = scan(memory, { only: new Set(['a/new/deep']) });
		expect(pathsOf(found.changes)).toEqual(['a', 'a/new', 'a/new/deep', 'a/new/deep/file']);
	});

	it('passes over unversioned paths with all below them', () => {
		const unversioned = (path: string) => path === '.cache/npm';
		place.write('upper/.cache/npm/deep/x', '');
		place.write('upper/.cache/kept', '');
		const found = scan(null, { unversioned });
		expect(pathsOf(found.changes)).toEqual(['', '.cache', '.cache/kept']);
		writeFileSync(place.join('upper/.cache/npm/deep/x'), 'more');
		expect(scan(settled(unversioned), { unversioned }).changes).toEqual([]);
	});

	it('tells which paths it sees for the first time', () => {
		place.write('upper/old', '');
		const memory = settled();
		place.write('upper/old', 'more');
		place.write('upper/d/new', '');
		const seen: string[] = [];
		scan(memory, { onFirstSeen: (path) => seen.push(path) });
		expect(seen.sort()).toEqual(['d', 'd/new']);
	});

	it('reports a removed directory once, for all that it held', () => {
		place.write('upper/d/e/f', '');
		const memory = settled();
		rmSync(place.join('upper/d'), { recursive: true });
		const { changes } = scan(memory);
		expect(changes.filter(({ after }) => after === null).map(({ path }) => path)).toEqual(['d']);
	});
});

describe('renames', () => {
	it('of a file bring its bytes and say where it was', () => {
		place.write('upper/a/file', 'text');
		const memory = settled();
		mkdirSync(place.join('upper/b'));
		renameSync(place.join('upper/a/file'), place.join('upper/b/other'));
		const { changes } = scanUpper(upper, memory);
		const renamed = changes.find(({ path }) => path === 'b/other');
		expect(renamed?.from).toBe('a/file');
		expect(textOf(renamed)).toBe('text');
		expect(changes.find(({ path }) => path === 'a/file')?.after).toBeNull();
	});

	it('of a directory leave out what is as it was, and find what is not', () => {
		for (const name of ['same', 'changed', 'gone']) place.write(`upper/d/sub/${name}`, 'old');
		const memory = settled();
		renameSync(place.join('upper/d'), place.join('upper/e'));
		writeFileSync(place.join('upper/e/sub/changed'), 'newer');
		rmSync(place.join('upper/e/sub/gone'));
		const { changes } = scan(memory);
		expect(pathsOf(changes)).toEqual(
			['', 'd', 'd/sub', 'd/sub/changed', 'e', 'e/sub', 'e/sub/changed', 'e/sub/gone'].sort(),
		);
		expect(changes.find(({ path }) => path === 'e/sub/changed')?.from).toBe('d/sub/changed');
	});

	it('that swap two names are given as changed places', () => {
		for (const name of ['a', 'b']) place.write(`upper/${name}`, name);
		const memory = settled();
		for (const [from, to] of [
			['a', 'c'],
			['b', 'a'],
			['c', 'b'],
		]) {
			renameSync(place.join(`upper/${from}`), place.join(`upper/${to}`));
		}
		const { changes } = scanUpper(upper, memory);
		const texts = new Map(changes.filter(({ path }) => path !== '').map((change) => [change.path, textOf(change)]));
		expect(texts).toEqual(
			new Map([
				['a', 'b'],
				['b', 'a'],
			]),
		);
	});
});

describe('what overlayfs puts into an upper directory', () => {
	it('is a whiteout where there is a device 0:0, however the kernel links them', () => {
		inDirectory(upper, (fd) => makeNodeIn(fd, 'first', 'char', 0));
		const memory = settled();
		linkSync(place.join('upper/first'), place.join('upper/second'));
		const { changes } = scan(memory);
		expect(pathsOf(changes)).toEqual(['', 'second']);
		const second = changes.find(({ path }) => path === 'second');
		expect(second?.after?.kind).toBe('whiteout');
		expect(second?.link).toBeNull();
	});

	it('is a whiteout where an empty file says so in a directory that says so', () => {
		for (const name of ['marked/gone', 'marked/file', 'plain/file']) place.write(`upper/${name}`, '');
		setXattr(place.join('upper/marked'), 'user.overlay.opaque', Buffer.from('x'));
		for (const name of ['marked/gone', 'plain/file']) {
			setXattr(place.join(`upper/${name}`), 'user.overlay.whiteout', Buffer.from('y'));
		}
		const kinds = new Map(scan(null).changes.map(({ path, after }) => [path, after?.kind]));
		expect(kinds.get('marked/gone')).toBe('whiteout');
		expect(kinds.get('marked/file')).toBe('file');
		expect(kinds.get('plain/file')).toBe('file');
		const later = scan(settled()).changes;
		expect(later).toEqual([]);
	});

	it('is an opaque directory, whose other overlay attributes are dropped and foreign ones kept', () => {
		mkdirSync(place.join('upper/d'));
		const set = (name: string, value: string) => setXattr(place.join('upper/d'), name, Buffer.from(value));
		set('user.overlay.opaque', 'y');
		set('user.overlay.origin', 'o');
		set('user.overlay.overlay.opaque', 'inner');
		set('user.mine', 'm');
		const after = scan(null).changes.find(({ path }) => path === 'd')?.after;
		expect(after?.opaque).toBe(true);
		expect([...(after?.xattrs ?? [])].map(([name, value]) => `${name}=${value}`)).toEqual([
			'user.mine=m',
			'user.overlay.opaque=inner',
		]);
	});
});

describe('hostile contents', () => {
	it('FIFOs and sockets are not opened', () => {
		inDirectory(upper, (fd) => {
			makeNodeIn(fd, 'fifo', 'fifo', 0o600);
			makeNodeIn(fd, 'socket', 'socket', 0o600);
		});
		const kinds = scan(null).changes.map(({ after, content }) => [after?.kind, content]);
		expect(kinds).toEqual(
			expect.arrayContaining([
				['fifo', null],
				['socket', null],
			]),
		);
	});

	it('a file that is replaced by a link to the host before it is read gives nothing away', () => {
		const secret = place.write('secret', 'secret');
		const file = place.write('upper/file', 'public');
		const found = scanUpper(upper, null);
		rmSync(file);
		symlinkSync(secret, file);
		expect(textOf(found.changes.find(({ path }) => path === 'file'))).toBe('');
		expect(found.disturbed).toEqual(new Set(['file']));
	});

	it('a directory that is replaced by a link to the host before its files are read gives nothing away', () => {
		place.write('outside/file', 'secret');
		place.write('upper/d/file', 'public');
		const found = scanUpper(upper, null);
		renameSync(place.join('upper/d'), place.join('upper/e'));
		symlinkSync('../outside', place.join('upper/d'));
		expect(textOf(found.changes.find(({ path }) => path === 'd/file'))).toBe('');
		expect(found.disturbed).toEqual(new Set(['d/file']));
	});

	it('a file that is written to while it is read is read again by the next scan', () => {
		const file = place.write('upper/file', 'x'.repeat(200_000));
		const settledAt = { ...systemClock.now(), sec: systemClock.now().sec + 10 };
		const found = scanUpper(upper, null, { now: settledAt });
		const content = found.changes.find(({ path }) => path === 'file')?.content;
		for (const { offset } of content?.pieces() ?? []) if (offset === 0) writeFileSync(file, 'shorter');
		expect(found.disturbed).toEqual(new Set(['file']));
		const again = scanUpper(upper, found.memory);
		expect(textOf(again.changes.find(({ path }) => path === 'file'))).toBe('shorter');
	});

	it('directories deeper than a path may be long, and than descriptors may be open, are read', () => {
		const name = 'n'.repeat(100);
		let fd = openIn(AT_FDCWD, upper, O_PATH | O_DIRECTORY);
		for (let depth = 0; depth < 300; depth++) {
			makeDirectoryIn(fd, name, 0o755);
			const next = openIn(fd, name, O_PATH | O_DIRECTORY);
			closeFd(fd);
			fd = next;
		}
		writeFileSync(`/proc/self/fd/${fd}/deep`, 'found');
		closeFd(fd);
		const open = readdirSync('/proc/self/fd').length;
		const found = scanUpper(upper, null);
		const deep = found.changes.at(-1);
		expect(deep?.path.length).toBe(300 * 101 + 4);
		expect(textOf(deep)).toBe('found');
		expect(scan(found.memory).changes.length).toBeLessThanOrEqual(302);
		expect(readdirSync('/proc/self/fd').length).toBe(open);
		execFileSync('rm', ['-r', upper]);
	});
});

describe('files and directories that deny their own owner', () => {
	let account: Account;
	beforeEach(() => {
		account = ordinaryAccount();
		place.write('upper/locked/inner/file', 'inside');
		place.write('upper/file', 'text');
		setXattr(place.join('upper/file'), 'user.k', Buffer.from('v'));
		account.own(place.path);
		chmodSync(place.join('upper/file'), 0o000);
		chmodSync(place.join('upper/locked/inner'), 0o100);
		chmodSync(place.join('upper/locked'), 0o000);
	});

	it('are read by their owner, and have their modes and times as before', () => {
		const times = () => [lstatSync(place.join('upper/file')), lstatSync(place.join('upper/locked'))].map(shown);
		const before = times();
		const texts = asAccount(account, () => {
			const { changes } = scanUpper(upper, null);
			return new Map(changes.map((change) => [change.path, [change.after?.mode.toString(8), textOf(change)]]));
		});
		expect(texts.get('file')).toEqual(['0', 'text']);
		expect(texts.get('locked')).toEqual(['0', '']);
		expect(texts.get('locked/inner')).toEqual(['100', '']);
		expect(texts.get('locked/inner/file')?.[1]).toBe('inside');
		expect(times()).toEqual(before);
		expect(readdirSync(place.path)).toEqual(['upper']);
	});

	it('get back their modes when a scan was killed in between', () => {
		const ino = String(lstatSync(place.join('upper/file'), { bigint: true }).ino);
		place.write('upper.unlocked', JSON.stringify([{ path: 'file', ino, mode: 0o000 }]));
		account.own(place.join('upper.unlocked'));
		chmodSync(place.join('upper/file'), 0o400);
		const found = asAccount(account, () => scan(null));
		expect(found.changes.find(({ path }) => path === 'file')?.after?.mode).toBe(0);
		expect(lstatSync(place.join('upper/file')).mode & 0o777).toBe(0);
		expect(readdirSync(place.path)).toEqual(['upper']);
	});
});

function shown({ mode, mtimeMs, atimeMs }: ReturnType<typeof lstatSync> & object) {
	return { mode, mtimeMs, atimeMs };
}
