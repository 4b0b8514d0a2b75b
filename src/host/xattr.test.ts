import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readInode } from './read-inode.ts';
import { getXattr, isKeptXattr, listXattrs, readXattrs, removeXattr, setXattr } from './xattr.ts';

let directory: string;
let file: string;

beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), 'xattr-'));
	file = join(directory, 'file');
	writeFileSync(file, '');
});

afterEach(() => {
	rmSync(directory, { recursive: true });
});

test('attributes are made, replaced, listed and removed', () => {
	expect(listXattrs(file)).toEqual([]);
	setXattr(file, 'user.one', Buffer.from('1'));
	setXattr(file, 'user.empty', Buffer.alloc(0));
	setXattr(file, 'user.one', Buffer.from([0, 255, 1]));
	expect(listXattrs(file).sort()).toEqual(['user.empty', 'user.one']);
	expect(getXattr(file, 'user.one')).toEqual(Buffer.from([0, 255, 1]));
	expect(getXattr(file, 'user.empty')).toEqual(Buffer.alloc(0));
	removeXattr(file, 'user.one');
	removeXattr(file, 'user.one');
	expect(getXattr(file, 'user.one')).toBeNull();
});

test('many names and values that do not fit the first buffer are read whole', () => {
	for (let index = 0; index < 20; index += 1) {
		setXattr(file, `user.${String(index).padStart(100, '0')}`, Buffer.from([index]));
	}
	expect(listXattrs(file)).toHaveLength(20);
	expect([...readXattrs(file).values()].map((value) => value[0])).toEqual([...Array(20).keys()]);
});

test('names of any bytes come back as they were', () => {
	setXattr(file, 'user.\udcff', Buffer.from('x'));
	expect(listXattrs(file)).toEqual(['user.\udcff']);
});

test('a link is not followed', () => {
	setXattr(file, 'user.one', Buffer.from('1'));
	symlinkSync(file, join(directory, 'link'));
	expect(listXattrs(join(directory, 'link'))).toEqual([]);
	expect(readInode(join(directory, 'link'))).toMatchObject({ kind: 'symlink', target: file });
	expect(() => setXattr(join(directory, 'link'), 'user.two', Buffer.from('2'))).toThrow(/operation not permitted/);
});

test('an inode is read with its attributes; a missing one is ENOENT', () => {
	setXattr(file, 'user.one', Buffer.from('1'));
	expect(readInode(file)).toMatchObject({ kind: 'file', opaque: false, target: null });
	expect(readInode(file).xattrs).toEqual(new Map([['user.one', Buffer.from('1')]]));
	expect(() => readInode(join(directory, 'absent'))).toThrow(/no such file/);
});

test("labels of the machine's security modules are not part of a tree", () => {
	expect(['user.x', 'trusted.x', 'security.capability', 'system.posix_acl_access'].every(isKeptXattr)).toBe(true);
	expect(['security.selinux', 'security.ima', 'system.nfs4_acl'].some(isKeptXattr)).toBe(false);
});
