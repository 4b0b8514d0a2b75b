import { decodeName } from '../base/bytes.ts';
import type { Inode } from '../base/inode.ts';
import { PosixError } from '../base/posix-error.ts';
import { type HostStat, statAt, statIn, statOf } from './host-stat.ts';
import { checked, cString, libc } from './libc.ts';
import { AT_FDCWD } from './open-flags.ts';
import { readXattrs } from './xattr.ts';

/** An inode as the host has it, extended attributes and link target included. */
export interface HostInode extends Inode, HostStat {}

/** Reads what a path names, following no link at its end. Throws PosixError, ENOENT when nothing is there. */
export function readInode(path: string): HostInode {
	const stat = statAt(path);
	if (stat === null) throw new PosixError('ENOENT', 'stat', path);
	return complete(stat, AT_FDCWD, path, path);
}

/** Reads a name in an open directory, following nothing; null when it is not there. Throws PosixError. */
export function readInodeIn(directory: number, name: string): HostInode | null {
	const stat = statIn(directory, name);
	return stat === null ? null : complete(stat, directory, name, pathIn(directory, name));
}

/** Reads the directory that a descriptor stands for. Throws PosixError. */
export function readDirectoryOf(fd: number): HostInode {
	return { ...statOf(fd), target: null, opaque: false, xattrs: readXattrs(pathIn(fd, '')) };
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

function complete(stat: HostStat, directory: number, name: string, path: string): HostInode {
	return {
		...stat,
		target: stat.kind === 'symlink' ? readTargetIn(directory, name) : null,
		opaque: false,
		xattrs: readXattrs(path),
	};
}
