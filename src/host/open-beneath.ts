import { encodeName } from '../base/bytes.ts';
import { posixErrorOf } from '../base/posix-error.ts';
import { closeFd, openIn } from './entries.ts';
import { cString, lastErrno, libc } from './libc.ts';
import { O_CLOEXEC, O_DIRECTORY, O_NOFOLLOW, O_PATH } from './open-flags.ts';

/**
 * Opens a path below an open directory through no link, magic ones included, and never above it. In one call where the
 * kernel has openat2 (5.6) and the path is short enough, else name by name. `flags` must not create. The caller closes
 * the descriptor. Throws PosixError: ELOOP or ENOTDIR when a link is in the way.
 */
export function openBeneath(root: number, path: string, flags: number): number {
	if (path === '') return openIn(root, '.', flags);
	return openInOneCall(root, path, flags) ?? openByName(root, path, flags);
}

const SYS_OPENAT2 = 437;
const RESOLVE_NO_MAGICLINKS = 0x02;
const RESOLVE_NO_SYMLINKS = 0x04;
const RESOLVE_BENEATH = 0x08;
const PATH_MAX = 4096;
const EPERM = 1;
const ENOSYS = 38;

/** struct open_how of linux/openat2.h: flags, mode, resolve, 64 bits each. */
const how = Buffer.alloc(24);
how.writeUInt32LE(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS, 16);

/** False once the kernel, or a seccomp filter of an old container, has refused openat2. */
let hasOpenat2 = true;

function openInOneCall(root: number, path: string, flags: number): number | null {
	if (!hasOpenat2 || isTooLong(path)) return null;
	how.writeUInt32LE(flags | O_CLOEXEC | O_NOFOLLOW, 0);
	const fd = libc().syscallOpenat2(SYS_OPENAT2, root, cString(path), how, how.length);
	if (fd >= 0) return fd;
	const errno = lastErrno();
	if (errno !== ENOSYS && errno !== EPERM) throw posixErrorOf(errno, 'open', path);
	hasOpenat2 = errno !== ENOSYS;
	return null;
}

/** A character takes up to three bytes; only what might be too long is counted. */
function isTooLong(path: string): boolean {
	return path.length * 3 >= PATH_MAX && encodeName(path).length >= PATH_MAX;
}

function openByName(root: number, path: string, flags: number): number {
	const names = path.split('/');
	const last = names.pop() as string;
	let directory = root;
	try {
		for (const name of names) {
			const next = openIn(directory, beneath(name), O_PATH | O_DIRECTORY);
			if (directory !== root) closeFd(directory);
			directory = next;
		}
		return openIn(directory, beneath(last), flags);
	} finally {
		if (directory !== root) closeFd(directory);
	}
}

function beneath(name: string): string {
	if (name === '' || name === '.' || name === '..') throw new Error(`'${name}' is no name below a directory`);
	return name;
}
