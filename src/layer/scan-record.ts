import type { Time } from '../base/inode.ts';

/**
 * What is remembered of one name of an upper directory: a fixed number of 32-bit words in one long array, so that
 * 100,000 of them load as one read and compare without an allocation. The children of a directory stand side by side,
 * in the order of their names' bytes. Record 0 is the upper directory itself.
 */
export const RECORD_WORDS = 18;

/** Offset of the name, NUL-terminated, in the block of names. */
export const NAME_AT = 0;
/** Number of the record of the first child of a directory. */
export const FIRST_CHILD = 1;
export const CHILD_COUNT = 2;
export const FLAGS = 3;
/** The words of {@link KEPT_WORDS} begin here. */
const STAT = 4;

/** Read it again next time, whatever its times say. */
export const FLAG_REREAD = 1;
/** A whiteout: its times and links say nothing, for the kernel links all whiteouts to one inode. */
export const FLAG_WHITEOUT = 2;
/** A directory in which empty files may be whiteouts (hasMarkedWhiteouts). */
export const FLAG_MARKED = 4;

/** Bytes of a struct statx (linux/stat.h). */
export const STATX_BYTES = 256;
/** Words of struct statx by their offset. */
const NLINK = 4;
const MODE = 7;
const INO = 8;
const BTIME_SEC = 20;
const CTIME_SEC = 24;
const CTIME_NSEC = 26;
const RDEV_MAJOR = 32;
const RDEV_MINOR = 33;

/** nlink, uid, gid, mode, ino (2), size (2), and of btime, ctime and mtime the seconds (their low word) and nanoseconds. */
const KEPT_WORDS = Uint8Array.of(NLINK, 5, 6, MODE, INO, 9, 10, 11, BTIME_SEC, 22, CTIME_SEC, CTIME_NSEC, 28, 30);
const KEPT_NLINK = STAT;
const KEPT_MODE = STAT + 3;
const KEPT_INO = STAT + 4;
const KEPT_BTIME = STAT + 8;

const TYPE_MASK = 0o170000;
const DIRECTORY = 0o040000;
const CHAR_DEVICE = 0o020000;
const REGULAR_FILE = 0o100000;

/** Copies what is kept of a struct statx into the record that begins at word `at`. */
export function keepStat(records: Uint32Array, at: number, statx: Uint32Array): void {
	for (let word = 0; word < KEPT_WORDS.length; word++) {
		records[at + STAT + word] = statx[KEPT_WORDS[word] as number] as number;
	}
}

/** Copies flags and stat words from one record to another, both given by their numbers. */
export function copyRecord(to: Uint32Array, toIndex: number, from: Uint32Array, fromIndex: number): void {
	const shift = (fromIndex - toIndex) * RECORD_WORDS;
	const end = (toIndex + 1) * RECORD_WORDS;
	for (let word = toIndex * RECORD_WORDS + FLAGS; word < end; word++) to[word] = from[word + shift] as number;
}

/** Numbers of the first child of a directory, and of the record after its last. */
export function childRange(records: Uint32Array, directory: number): [first: number, end: number] {
	const at = directory * RECORD_WORDS;
	const first = records[at + FIRST_CHILD] as number;
	return [first, first + (records[at + CHILD_COUNT] as number)];
}

/** Whether two records' stat words are all equal. */
export function sameStat(a: Uint32Array, aAt: number, b: Uint32Array, bAt: number): boolean {
	for (let word = RECORD_WORDS - 1; word >= STAT; word--) if (a[aAt + word] !== b[bAt + word]) return false;
	return true;
}

/** Whether two records are of one inode: its number may be given again, but not with the same time of birth. */
export function sameIdentity(a: Uint32Array, aAt: number, b: Uint32Array, bAt: number): boolean {
	return (
		a[aAt + KEPT_INO] === b[bAt + KEPT_INO] &&
		a[aAt + KEPT_INO + 1] === b[bAt + KEPT_INO + 1] &&
		a[aAt + KEPT_BTIME] === b[bAt + KEPT_BTIME] &&
		a[aAt + KEPT_BTIME + 1] === b[bAt + KEPT_BTIME + 1]
	);
}

/** The inode number on the host, all 64 bits. */
export function recordIno(records: Uint32Array, at: number): bigint {
	return (BigInt(records[at + KEPT_INO + 1] as number) << 32n) | BigInt(records[at + KEPT_INO] as number);
}

/** The low 32 bits of it. */
export function recordInoLow(records: Uint32Array, at: number): number {
	return records[at + KEPT_INO] as number;
}

export function recordMode(records: Uint32Array, at: number): number {
	return (records[at + KEPT_MODE] as number) & 0xffff;
}

export function recordLinks(records: Uint32Array, at: number): number {
	return records[at + KEPT_NLINK] as number;
}

export function isDirectoryRecord(records: Uint32Array, at: number): boolean {
	return ((records[at + KEPT_MODE] as number) & TYPE_MASK) === DIRECTORY;
}

export function isFileRecord(records: Uint32Array, at: number): boolean {
	return ((records[at + KEPT_MODE] as number) & TYPE_MASK) === REGULAR_FILE;
}

/** Whether a struct statx is a whiteout's: a character device 0:0. */
export function isWhiteoutStat(statx: Uint32Array): boolean {
	return ((statx[MODE] as number) & TYPE_MASK) === CHAR_DEVICE && statx[RDEV_MAJOR] === 0 && statx[RDEV_MINOR] === 0;
}

/**
 * Whether the ctime of a struct statx is this time or later. One without nanoseconds counts as the end of its second:
 * the filesystem may know no finer time.
 */
export function changedSince(statx: Uint32Array, { sec, nsec }: Time): boolean {
	const ownSec = (statx[CTIME_SEC] as number) + (statx[CTIME_SEC + 1] as number) * 2 ** 32;
	const ownNsec = statx[CTIME_NSEC] as number;
	if (ownNsec === 0) return ownSec + 1 > sec;
	return ownSec > sec || (ownSec === sec && ownNsec >= nsec);
}
