import { createRequire } from 'node:module';
import { encodeName, isUtf8Name } from '../base/bytes.ts';
import { posixErrorOf } from '../base/posix-error.ts';

/** A name or path as a system call takes it: text, or bytes that end in NUL. Made by {@link cString}. */
export type CString = string | Buffer;

/** A C function that returns -1 and sets errno when it fails. */
type Call<Arguments extends unknown[]> = (...args: Arguments) => number;

/** The system calls that node:fs does not offer, or only by path and following links. `directory` is a descriptor. */
export interface Libc {
	openat: Call<[directory: number, name: CString, flags: number, mode: number]>;
	close: Call<[fd: number]>;
	pread: Call<[fd: number, into: Buffer, bytes: number, offset: number]>;
	pwrite: Call<[fd: number, from: Buffer, bytes: number, offset: number]>;
	lseek: Call<[fd: number, offset: number, whence: number]>;
	ftruncate: Call<[fd: number, size: number]>;
	fsync: Call<[fd: number]>;
	syncfs: Call<[fd: number]>;
	fcntl: Call<[fd: number, command: number, type: 'void *', argument: Buffer]>;
	statx: Call<[directory: number, name: CString, flags: number, mask: number, into: Buffer]>;
	/** statx of a name that stands, NUL-terminated, at an {@link addressOf}: nothing is converted or allocated. */
	statxByAddress: Call<[directory: number, nameAddress: number, flags: number, mask: number, into: Buffer]>;
	getdents64: Call<[directory: number, into: Buffer, bytes: number]>;
	mkdirat: Call<[directory: number, name: CString, mode: number]>;
	mknodat: Call<[directory: number, name: CString, mode: number, device: number]>;
	symlinkat: Call<[target: CString, directory: number, name: CString]>;
	readlinkat: Call<[directory: number, name: CString, into: Buffer, bytes: number]>;
	linkat: Call<[fromDirectory: number, from: CString, directory: number, name: CString, flags: number]>;
	unlinkat: Call<[directory: number, name: CString, flags: number]>;
	renameat2: Call<[fromDirectory: number, from: CString, directory: number, name: CString, flags: number]>;
	fchown: Call<[fd: number, uid: number, gid: number]>;
	fchownat: Call<[directory: number, name: CString, uid: number, gid: number, flags: number]>;
	fchmod: Call<[fd: number, mode: number]>;
	chmod: Call<[path: CString, mode: number]>;
	futimens: Call<[fd: number, times: Buffer]>;
	utimensat: Call<[directory: number, name: CString, times: Buffer, flags: number]>;
	llistxattr: Call<[path: CString, into: Buffer, bytes: number]>;
	lgetxattr: Call<[path: CString, name: CString, into: Buffer, bytes: number]>;
	lsetxattr: Call<[path: CString, name: CString, value: Buffer, bytes: number, flags: number]>;
	lremovexattr: Call<[path: CString, name: CString]>;
	/** Follows links: for /proc/self/fd names only. */
	setxattr: Call<[path: CString, name: CString, value: Buffer, bytes: number, flags: number]>;
	/** Follows links: for /proc/self/fd names only. */
	removexattr: Call<[path: CString, name: CString]>;
	fsetxattr: Call<[fd: number, name: CString, value: Buffer, bytes: number, flags: number]>;
	socketpair: Call<[family: number, type: number, protocol: number, into: Buffer]>;
	recvmsg: Call<[fd: number, message: Buffer, flags: number]>;
	read: Call<[fd: number, into: Buffer, bytes: number]>;
	inotify_init1: Call<[flags: number]>;
	inotify_add_watch: Call<[fd: number, path: CString, mask: number]>;
	/** syscall(2) with the shape of openat2, which has no wrapper in libc. */
	syscallOpenat2: Call<[number: number, directory: number, path: CString, how: Buffer, bytes: number]>;
}

const PROTOTYPES: Readonly<Record<keyof Libc, string>> = {
	openat: 'int openat(int, const char *, int, unsigned int)',
	close: 'int close(int)',
	pread: 'long pread(int, void *, unsigned long, long)',
	pwrite: 'long pwrite(int, const void *, unsigned long, long)',
	lseek: 'long lseek(int, long, int)',
	ftruncate: 'int ftruncate(int, long)',
	fsync: 'int fsync(int)',
	syncfs: 'int syncfs(int)',
	fcntl: 'int fcntl(int, int, ...)',
	statx: 'int statx(int, const char *, int, unsigned int, void *)',
	statxByAddress: 'int statx(int, uintptr_t, int, unsigned int, void *)',
	getdents64: 'long getdents64(int, void *, unsigned long)',
	mkdirat: 'int mkdirat(int, const char *, unsigned int)',
	mknodat: 'int mknodat(int, const char *, unsigned int, unsigned long)',
	symlinkat: 'int symlinkat(const char *, int, const char *)',
	readlinkat: 'long readlinkat(int, const char *, void *, unsigned long)',
	linkat: 'int linkat(int, const char *, int, const char *, int)',
	unlinkat: 'int unlinkat(int, const char *, int)',
	renameat2: 'int renameat2(int, const char *, int, const char *, unsigned int)',
	fchown: 'int fchown(int, unsigned int, unsigned int)',
	fchownat: 'int fchownat(int, const char *, unsigned int, unsigned int, int)',
	fchmod: 'int fchmod(int, unsigned int)',
	chmod: 'int chmod(const char *, unsigned int)',
	futimens: 'int futimens(int, const void *)',
	utimensat: 'int utimensat(int, const char *, const void *, int)',
	llistxattr: 'long llistxattr(const char *, void *, unsigned long)',
	lgetxattr: 'long lgetxattr(const char *, const char *, void *, unsigned long)',
	lsetxattr: 'int lsetxattr(const char *, const char *, const void *, unsigned long, int)',
	lremovexattr: 'int lremovexattr(const char *, const char *)',
	setxattr: 'int setxattr(const char *, const char *, const void *, unsigned long, int)',
	removexattr: 'int removexattr(const char *, const char *)',
	fsetxattr: 'int fsetxattr(int, const char *, const void *, unsigned long, int)',
	socketpair: 'int socketpair(int, int, int, void *)',
	recvmsg: 'long recvmsg(int, void *, int)',
	read: 'long read(int, void *, unsigned long)',
	inotify_init1: 'int inotify_init1(int)',
	inotify_add_watch: 'int inotify_add_watch(int, const char *, unsigned int)',
	syscallOpenat2: 'long syscall(long, int, const char *, void *, unsigned long)',
};

interface Loaded {
	readonly table: Libc;
	readonly errno: () => number;
	readonly address: (of: Buffer) => bigint;
}

let loaded: Loaded | null = null;

/** The table of system calls; koffi (10 ms) is loaded by the first call. */
export function libc(): Libc {
	loaded ??= load();
	return loaded.table;
}

/** The positive error number of the call that just failed. */
export function lastErrno(): number {
	loaded ??= load();
	return loaded.errno();
}

/** Where a buffer's bytes lie; good while the buffer is referenced. User space addresses fit a number (47 or 52 bits). */
export function addressOf(buffer: Buffer): number {
	loaded ??= load();
	return Number(loaded.address(buffer));
}

/** Hands on a call's result; throws PosixError when it is -1. `path` is for the message. */
export function checked(result: number, operation: string, path: string | null = null): number {
	if (result < 0) throw posixErrorOf(lastErrno(), operation, path);
	return result;
}

/**
 * The form in which a system call takes a name or path, byte for byte. A name with a NUL in it would silently be cut
 * short in C, and no caller may let one through: it is a bug, thrown as plain Error.
 */
export function cString(name: string): CString {
	if (name.includes('\0')) throw new Error(`name holds a NUL byte: ${JSON.stringify(name)}`);
	return isUtf8Name(name) ? name : Buffer.concat([encodeName(name), NUL]);
}

const NUL = Buffer.of(0);

function load(): Loaded {
	const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
	const library = koffi.load(null);
	const names = Object.keys(PROTOTYPES) as (keyof Libc)[];
	const table = Object.fromEntries(names.map((name) => [name, library.func(PROTOTYPES[name])]));
	return { table: table as unknown as Libc, errno: () => koffi.errno(), address: koffi.address };
}
