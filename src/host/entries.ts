import { decodeName } from '../base/bytes.ts';
import { type Kind, TYPE_BITS } from '../base/inode.ts';
import { checked, cString, libc } from './libc.ts';
import { AT_REMOVEDIR, O_CLOEXEC, O_DIRECTORY, O_NOFOLLOW, O_RDONLY } from './open-flags.ts';

/**
 * Names in open directories: listed, made, linked, moved and removed. `directory` is a descriptor, O_PATH ones do; a name
 * is one name, and no link is followed. All throw PosixError.
 */

/** Opens a name; close-on-exec, and ELOOP (with O_PATH: ENOTDIR or a handle on the link) instead of following a link. */
export function openIn(directory: number, name: string, flags: number, mode = 0): number {
	const all = flags | O_CLOEXEC | O_NOFOLLOW;
	return checked(libc().openat(directory, cString(name), all, mode), 'open', name);
}

/** Closes a descriptor of {@link openIn}. */
export function closeFd(fd: number): void {
	checked(libc().close(fd), 'close');
}

/** The names that a directory holds, in the order in which the filesystem keeps them, without `.` and `..`. */
export function listIn(directory: number): string[] {
	return list(directory, false);
}

/** Those of them that are directories, or that the filesystem does not say what they are. */
export function listDirectoriesIn(directory: number): string[] {
	return list(directory, true);
}

function list(directory: number, directoriesOnly: boolean): string[] {
	const fd = openIn(directory, '.', O_RDONLY | O_DIRECTORY);
	try {
		const names: string[] = [];
		for (;;) {
			const length = checked(libc().getdents64(fd, listing, listing.length), 'readdir');
			if (length === 0) return names;
			pushNames(listing.subarray(0, length), directoriesOnly, names);
		}
	} finally {
		closeFd(fd);
	}
}

/** Makes an empty directory. */
export function makeDirectoryIn(directory: number, name: string, mode: number): void {
	checked(libc().mkdirat(directory, cString(name), mode), 'mkdir', name);
}

/**
 * Makes a FIFO, a socket's name or a device node, its mode cut by the umask. A char node 0:0, which overlayfs takes for a
 * whiteout, needs no privilege; other devices do.
 */
export function makeNodeIn(
	directory: number,
	name: string,
	kind: Exclude<Kind, 'whiteout'>,
	mode: number,
	rdev = 0,
): void {
	checked(libc().mknodat(directory, cString(name), TYPE_BITS[kind] | mode, rdev), 'mknod', name);
}

/** Makes a symlink. */
export function makeSymlinkIn(directory: number, name: string, target: string): void {
	checked(libc().symlinkat(cString(target), directory, cString(name)), 'symlink', name);
}

/** Gives an inode a further name; of a symlink, the link itself. */
export function linkIn(fromDirectory: number, from: string, directory: number, name: string): void {
	checked(libc().linkat(fromDirectory, cString(from), directory, cString(name), 0), 'link', name);
}

/** Removes a name that is no directory. */
export function unlinkIn(directory: number, name: string): void {
	checked(libc().unlinkat(directory, cString(name), 0), 'unlink', name);
}

/** Removes an empty directory. */
export function removeDirectoryIn(directory: number, name: string): void {
	checked(libc().unlinkat(directory, cString(name), AT_REMOVEDIR), 'rmdir', name);
}

/** Fail with EEXIST when the new name is taken (renameat2(2)). */
export const RENAME_NOREPLACE = 1;
/** Swap the two names, both of which must be there. */
export const RENAME_EXCHANGE = 2;

/** Moves a name; by default it takes the place of what has the new name. */
export function renameIn(
	fromDirectory: number,
	from: string,
	directory: number,
	name: string,
	flags: 0 | typeof RENAME_NOREPLACE | typeof RENAME_EXCHANGE = 0,
): void {
	checked(libc().renameat2(fromDirectory, cString(from), directory, cString(name), flags), 'rename', from);
}

const listing = Buffer.alloc(65_536);

/** struct linux_dirent64: ino (8), off (8), record length (2), type (1), name that ends in NUL. */
const RECORD_LENGTH = 16;
const TYPE = 18;
const NAME = 19;
const DT_UNKNOWN = 0;
const DT_DIR = 4;
const DOT = 0x2e;

function pushNames(records: Buffer, directoriesOnly: boolean, names: string[]): void {
	for (let at = 0; at < records.length; ) {
		const next = at + records.readUInt16LE(at + RECORD_LENGTH);
		const type = records[at + TYPE];
		const start = at + NAME;
		at = next;
		if (directoriesOnly && type !== DT_DIR && type !== DT_UNKNOWN) continue;
		const end = records.indexOf(0, start);
		if (!isDots(records, start, end - start)) names.push(nameOf(records, start, end));
	}
}

/** Plain ASCII, which most names are, is taken without the decoder's set-up cost. */
function nameOf(records: Buffer, start: number, end: number): string {
	for (let at = start; at < end; at += 1) {
		if ((records[at] as number) >= 0x80) return decodeName(records.subarray(start, end));
	}
	return records.toString('latin1', start, end);
}

function isDots(records: Buffer, start: number, length: number): boolean {
	return length <= 2 && records[start] === DOT && (length === 1 || records[start + 1] === DOT);
}
