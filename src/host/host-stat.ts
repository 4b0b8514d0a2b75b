import { type Inode, kindOfMode, type Time } from '../base/inode.ts';
import { posixErrorOf } from '../base/posix-error.ts';
import { type CString, cString, lastErrno, libc } from './libc.ts';
import { AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW } from './open-flags.ts';

/** What statx(2) says of one name: an {@link Inode} without what costs further calls, and where the kernel keeps it. */
export interface HostStat extends Omit<Inode, 'xattrs' | 'target' | 'opaque'> {
	/** Device of the filesystem, encoded like rdev. */
	readonly dev: number;
	/** All 64 bits: overlayfs and network filesystems use the high ones. */
	readonly ino: bigint;
	readonly nlink: number;
	/** When the inode was made; null where the filesystem does not keep it. */
	readonly btime: Time | null;
	/** Bytes of disk; less than `size` in a file with holes. */
	readonly allocatedBytes: number;
}

/** Stat by path, not following a link at its end; null when nothing is there. Throws PosixError. */
export function statAt(path: string): HostStat | null {
	return statx(AT_FDCWD, cString(path), AT_SYMLINK_NOFOLLOW, path);
}

/** Stat of a name in an open directory, following nothing; null when it is not there. Throws PosixError. */
export function statIn(directory: number, name: string): HostStat | null {
	return statx(directory, cString(name), AT_SYMLINK_NOFOLLOW, name);
}

/** Stat of an open descriptor, O_PATH ones too. Throws PosixError. */
export function statOf(fd: number): HostStat {
	const stat = statx(fd, '', AT_EMPTY_PATH, null);
	if (stat === null) throw new Error(`descriptor ${fd} stands for nothing`);
	return stat;
}

const ENOENT = 2;
const ENOTDIR = 20;
const STATX_BASIC_STATS = 0x7ff;
const STATX_BTIME = 0x800;
const BLOCK_BYTES = 512;

/** struct statx of linux/stat.h, 256 bytes and the same on every architecture. One buffer serves every call. */
const bytes = Buffer.alloc(256);
const u32 = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
const i32 = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
const u64 = new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);

/** Offsets of the fields in 32-bit words. */
const MASK = 0;
const NLINK = 4;
const UID = 5;
const GID = 6;
const MODE = 7;
const INO_IN_U64 = 4;
const SIZE = 10;
const BLOCKS = 12;
const ATIME = 16;
const BTIME = 20;
const CTIME = 24;
const MTIME = 28;
const RDEV_MAJOR = 32;
const RDEV_MINOR = 33;
const DEV_MAJOR = 34;
const DEV_MINOR = 35;

function statx(directory: number, name: CString, flags: number, path: string | null): HostStat | null {
	if (libc().statx(directory, name, flags, STATX_BASIC_STATS | STATX_BTIME, bytes) < 0) {
		const errno = lastErrno();
		if (errno === ENOENT || errno === ENOTDIR) return null;
		throw posixErrorOf(errno, 'stat', path);
	}
	return decode();
}

function decode(): HostStat {
	const mode = word(MODE) & 0xffff;
	const kind = kindOfMode(mode);
	const isNode = kind === 'char' || kind === 'block';
	return {
		kind,
		mode: mode & 0o7777,
		uid: word(UID),
		gid: word(GID),
		size: kind === 'file' || kind === 'symlink' ? long(SIZE) : 0,
		rdev: isNode ? deviceNumber(word(RDEV_MAJOR), word(RDEV_MINOR)) : 0,
		atime: time(ATIME),
		mtime: time(MTIME),
		ctime: time(CTIME),
		dev: deviceNumber(word(DEV_MAJOR), word(DEV_MINOR)),
		ino: u64[INO_IN_U64] as bigint,
		nlink: word(NLINK),
		btime: (word(MASK) & STATX_BTIME) === 0 ? null : time(BTIME),
		allocatedBytes: long(BLOCKS) * BLOCK_BYTES,
	};
}

function word(at: number): number {
	return u32[at] as number;
}

function long(at: number): number {
	return word(at) + (i32[at + 1] as number) * 0x1_0000_0000;
}

function time(at: number): Time {
	return { sec: long(at), nsec: word(at + 2) };
}

/** makedev as glibc and the kernel's new_encode_dev have it; the minor's upper bits come above the major. */
function deviceNumber(major: number, minor: number): number {
	const low = ((major & 0xfff) << 8) | (minor & 0xff);
	const high = Math.floor(minor / 0x100) * 0x100_000 + Math.floor(major / 0x1000) * 0x1000_0000_0000;
	return low + high;
}
