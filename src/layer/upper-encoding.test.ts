import { expect, it } from 'vitest';
import { WHITEOUT } from '../base/inode.ts';
import type { HostInode } from '../host/read-inode.ts';
import { fromUpper, toUpper } from './upper-encoding.ts';

const host = { dev: 1, ino: 2n, nlink: 1, btime: null, allocatedBytes: 0 };
const plain: HostInode = { ...WHITEOUT, ...host, kind: 'directory', mode: 0o755 };

it('a whiteout is a character device 0:0 on disk, and the other way round', () => {
	expect(toUpper(WHITEOUT)).toMatchObject({ kind: 'char', rdev: 0, mode: 0 });
	expect(fromUpper({ ...host, ...toUpper(WHITEOUT) }, false)).toEqual({ ...host, ...WHITEOUT });
});

it('a device with another number is no whiteout', () => {
	expect(fromUpper({ ...plain, kind: 'char', rdev: 0x103 }, false).kind).toBe('char');
});

it('whatever attributes a directory has, they come back', () => {
	const xattrs = new Map([
		['user.k', Buffer.from('1')],
		['user.overlay.opaque', Buffer.from('y')],
		['user.overlay.overlay.opaque', Buffer.from('z')],
		['user.overlayed', Buffer.from('2')],
	]);
	for (const opaque of [true, false]) {
		const inode = { ...plain, opaque, xattrs };
		expect(fromUpper({ ...host, ...toUpper(inode) }, false)).toEqual(inode);
	}
});

it('what is set inside a session cannot make a directory opaque', () => {
	const inode = { ...plain, xattrs: new Map([['user.overlay.opaque', Buffer.from('y')]]) };
	const upper = toUpper(inode);
	expect([...upper.xattrs.keys()]).toEqual(['user.overlay.overlay.opaque']);
	expect(fromUpper({ ...host, ...upper }, false).opaque).toBe(false);
});

it('the overlay’s own attributes are not part of a session', () => {
	const names = ['user.overlay.origin', 'user.overlay.impure', 'user.overlay.uuid', 'trusted.overlay.opaque'];
	const xattrs = new Map(names.map((name) => [name, Buffer.from('y')]));
	expect(fromUpper({ ...plain, xattrs }, false)).toEqual(plain);
});
