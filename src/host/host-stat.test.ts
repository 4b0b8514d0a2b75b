import { execFileSync } from 'node:child_process';
import {
	closeSync,
	linkSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	openSync,
	rmSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fsPath } from '../base/bytes.ts';
import { statAt, statIn, statOf } from './host-stat.ts';

let directory: string;

beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), 'host-stat-'));
});

afterEach(() => {
	rmSync(directory, { recursive: true });
});

test('every field is what node:fs says, to the nanosecond', () => {
	const path = join(directory, 'file');
	writeFileSync(path, 'hello', { mode: 0o640 });
	linkSync(path, join(directory, 'second'));
	const node = lstatSync(path, { bigint: true });
	const stat = statAt(path);
	expect(stat).toMatchObject({
		kind: 'file',
		mode: Number(node.mode & 0o7777n),
		uid: Number(node.uid),
		gid: Number(node.gid),
		size: 5,
		rdev: 0,
		dev: Number(node.dev),
		ino: node.ino,
		nlink: 2,
		allocatedBytes: Number(node.blocks) * 512,
	});
	for (const name of ['atime', 'mtime', 'ctime'] as const) {
		const { sec, nsec } = stat?.[name] ?? { sec: 0, nsec: 0 };
		expect(BigInt(sec) * 1_000_000_000n + BigInt(nsec)).toBe(node[`${name}Ns`]);
	}
});

test('a time before the epoch and one after 2038 are exact', () => {
	const path = join(directory, 'file');
	writeFileSync(path, '');
	execFileSync('touch', ['-a', '-d', '@5000000000', path]);
	execFileSync('touch', ['-m', '-d', '1969-12-31 23:59:58.75 UTC', path]);
	expect(statAt(path)).toMatchObject({
		atime: { sec: 5_000_000_000, nsec: 0 },
		mtime: { sec: -2, nsec: 750_000_000 },
	});
});

test('sizes above 4 GiB are exact and a hole takes no disk', () => {
	const path = join(directory, 'big');
	writeFileSync(path, '');
	truncateSync(path, 5_000_000_123);
	expect(statAt(path)).toMatchObject({ size: 5_000_000_123, allocatedBytes: 0 });
});

test('a link is not followed, and a device has its number', () => {
	symlinkSync('/dev/null', join(directory, 'link'));
	expect(statAt(join(directory, 'link'))).toMatchObject({ kind: 'symlink', size: 9, rdev: 0 });
	expect(statAt('/dev/null')).toMatchObject({ kind: 'char', rdev: 0x103, size: 0 });
	execFileSync('mkfifo', [join(directory, 'fifo')]);
	expect(statAt(join(directory, 'fifo'))?.kind).toBe('fifo');
});

test('a name is found in an open directory, whatever its bytes', () => {
	const name = 'not\udcffutf8';
	writeFileSync(fsPath(join(directory, name)), 'x');
	const fd = openSync(directory, 'r');
	try {
		expect(statIn(fd, name)).toMatchObject({ kind: 'file', size: 1 });
		expect(statIn(fd, 'absent')).toBeNull();
		expect(statOf(fd)).toMatchObject({ kind: 'directory', size: 0 });
	} finally {
		closeSync(fd);
	}
});

test('nothing there is null; a path that is too long is an error', () => {
	writeFileSync(join(directory, 'file'), '');
	mkdirSync(join(directory, 'sub'));
	expect(statAt(join(directory, 'absent'))).toBeNull();
	expect(statAt(join(directory, 'file', 'below'))).toBeNull();
	expect(() => statAt(join(directory, 'x'.repeat(256)))).toThrow(/name too long/);
	expect(() => statAt('a\0b')).toThrow(/NUL/);
});
