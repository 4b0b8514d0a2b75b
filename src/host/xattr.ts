import { decodeName } from '../base/bytes.ts';
import { errorCode, posixErrorOf } from '../base/posix-error.ts';
import { checked, cString, lastErrno, libc } from './libc.ts';

/** Extended attributes (xattr(7)) by path, never following a link at its end. All throw PosixError. */

/** The attributes' names; empty where the filesystem has none. */
export function listXattrs(path: string): string[] {
	const at = cString(path);
	for (let room = names; ; room = Buffer.alloc(MAX_LIST_BYTES)) {
		const length = libc().llistxattr(at, room, room.length);
		if (length >= 0) return splitNames(room.subarray(0, length));
		const errno = lastErrno();
		if (errno === EOPNOTSUPP) return [];
		if (errno !== ERANGE || room.length === MAX_LIST_BYTES) throw posixErrorOf(errno, 'listxattr', path);
	}
}

/** One attribute's value; null when the inode does not have it. */
export function getXattr(path: string, name: string): Buffer | null {
	const at = cString(path);
	for (let room = value; ; room = Buffer.alloc(MAX_VALUE_BYTES)) {
		const length = libc().lgetxattr(at, cString(name), room, room.length);
		if (length >= 0) return Buffer.from(room.subarray(0, length));
		const errno = lastErrno();
		if (errno === ENODATA || errno === EOPNOTSUPP) return null;
		if (errno !== ERANGE || room.length === MAX_VALUE_BYTES) throw posixErrorOf(errno, `getxattr ${name}`, path);
	}
}

/** Makes or replaces an attribute. */
export function setXattr(path: string, name: string, value: Buffer): void {
	checked(libc().lsetxattr(cString(path), cString(name), value, value.length, 0), `setxattr ${name}`, path);
}

/** Takes an attribute away; one that is not there is no error. */
export function removeXattr(path: string, name: string): void {
	if (libc().lremovexattr(cString(path), cString(name)) === 0) return;
	const errno = lastErrno();
	if (errno !== ENODATA) throw posixErrorOf(errno, `removexattr ${name}`, path);
}

/**
 * The attributes that belong to a tree's state, with values, in the order of their names: `user.*`, `trusted.*`, POSIX
 * ACLs and file capabilities. Security labels (SELinux, IMA and the like) belong to the machine and are left out.
 */
export function readXattrs(path: string): ReadonlyMap<string, Buffer> {
	const kept = listXattrs(path).filter(isKeptXattr);
	if (kept.length === 0) return NONE;
	const found = new Map<string, Buffer>();
	for (const name of kept.sort()) {
		const value = readable(path, name);
		if (value !== null) found.set(name, value);
	}
	return found;
}

/** Whether {@link readXattrs} keeps an attribute of this name. */
export function isKeptXattr(name: string): boolean {
	return name.startsWith('user.') || name.startsWith('trusted.') || KEPT.has(name);
}

const KEPT: ReadonlySet<string> = new Set([
	'security.capability',
	'system.posix_acl_access',
	'system.posix_acl_default',
]);

const NONE: ReadonlyMap<string, Buffer> = new Map();
const ERANGE = 34;
const ENODATA = 61;
const EOPNOTSUPP = 95;
/** XATTR_LIST_MAX and XATTR_SIZE_MAX of linux/limits.h. */
const MAX_LIST_BYTES = 65_536;
const MAX_VALUE_BYTES = 65_536;

/** Room for the usual; longer answers are asked for again with all the room there can be. */
const names = Buffer.alloc(1024);
const value = Buffer.alloc(4096);

function splitNames(list: Buffer): string[] {
	if (list.length === 0) return [];
	const found: string[] = [];
	for (let start = 0; start < list.length; ) {
		const end = list.indexOf(0, start);
		found.push(decodeName(list.subarray(start, end)));
		start = end + 1;
	}
	return found;
}

/** The value, or null of an attribute that is listed to everyone but shown to the privileged only. */
function readable(path: string, name: string): Buffer | null {
	try {
		return getXattr(path, name);
	} catch (error) {
		if (errorCode(error) === 'EPERM') return null;
		throw error;
	}
}
