import { decodeName } from '../base/bytes.ts';
import type { Inode } from '../base/inode.ts';
import { PosixError } from '../base/posix-error.ts';
import { type HostStat, statAt, statIn, statOf } from './host-stat.ts';
import { checked, cString, libc } from './libc.ts';
import { AT_FDCWD } from './open-flags.ts';
import { OWNER_READ, OWNER_SEARCH, withOwnerAccess } from './owner-access.ts';
import { readXattrs } from './xattr.ts';

/** An inode as the host has it, extended attributes and link target included. */
export interface HostInode extends Inode, HostStat {}

/** Reads what a path names, following no link at its end. Throws PosixError, ENOENT when nothing is there. */
export function readInode(path: string): HostInode {
	const stat = statAt(path);
	if (stat === null) throw new PosixError('ENOENT', 'stat', path);
	return complete(stat, AT_FDCWD, path, path);
}

/**
 * Reads a name in an open directory, following nothing; null when it is not there. With `asOwner`, attributes of our own
 * file that denies us reading are read nevertheless (see {@link withOwnerAccess}). Throws PosixError.
 */
export function readInodeIn(directory: number, name: string, asOwner = false): HostInode | null {
	const stat = statIn(directory, name);
	if (stat === null) return null;
	const path = pathIn(directory, name);
	if (!asOwner || (stat.mode & OWNER_READ) !== 0) return complete(stat, directory, name, path);
	const xattrs = withOwnerAccess(directory, name, OWNER_READ, () => readXattrs(path));
	// opening it up may have moved ctime
	const now = statIn(directory, name);
	return now === null ? null : { ...complete(now, directory, name, null), xattrs };
}

/** Reads the directory that a descriptor stands for; `asOwner` as in {@link readInodeIn}. Throws PosixError. */
export function readDirectoryOf(fd: number, asOwner = false): HostInode {
	const read = () => readXattrs(pathIn(fd, ''));
	const xattrs = asOwner ? withOwnerAccess(fd, '', OWNER_READ | OWNER_SEARCH, read) : read();
	return { ...statOf(fd), target: null, opaque: false, xattrs };
}

/**
 * A path that leads to a name in an open directory, for calls that take no directory. No link is followed on the way:
 * the kernel resolves `/proc/self/fd/N` to the directory itself. An empty name leads to the directory.
 */
export function pathIn(directory: number, name: string): string {
	return name === '' ? `/proc/self/fd/${directory}/.` : `/proc/self/fd/${directory}/${name}`;
}

/** Where a symlink in an open directory points. Throws PosixError. */
export function readTargetIn(directory: number, name: string): string {
	const length = libc().readlinkat(directory, cString(name), target, target.length);
	return decodeName(target.subarray(0, checked(length, 'readlink', name)));
}

/** PATH_MAX: no target is longer. */
const target = Buffer.alloc(4096);

const NO_XATTRS: ReadonlyMap<string, Buffer> = new Map();

/** `path` null: without attributes. */
function complete(stat: HostStat, directory: number, name: string, path: string | null): HostInode {
	const target = stat.kind === 'symlink' ? readTargetIn(directory, name) : null;
	return withAttributes(stat, target, false, path === null ? NO_XATTRS : readXattrs(path));
}

/** A stat made whole. Each field by its name: spreading an object of this size takes longer than a system call. */
export function withAttributes(
	stat: HostStat,
	target: string | null,
	opaque: boolean,
	xattrs: ReadonlyMap<string, Buffer>,
): HostInode {
	return {
		kind: stat.kind,
		mode: stat.mode,
		uid: stat.uid,
		gid: stat.gid,
		size: stat.size,
		rdev: stat.rdev,
		atime: stat.atime,
		mtime: stat.mtime,
		ctime: stat.ctime,
		dev: stat.dev,
		ino: stat.ino,
		nlink: stat.nlink,
		btime: stat.btime,
		allocatedBytes: stat.allocatedBytes,
		target,
		opaque,
		xattrs,
	};
}
