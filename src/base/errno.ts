/**
 * Error numbers of Linux (asm-generic/errno-base.h and errno.h), with the text a user sees.
 * The one table that every other part maps by.
 */
export const ERRNO = {
	EPERM: [1, 'operation not permitted'],
	ENOENT: [2, 'no such file or directory'],
	ESRCH: [3, 'no such process'],
	EINTR: [4, 'interrupted system call'],
	EIO: [5, 'input/output error'],
	ENXIO: [6, 'no such device or address'],
	E2BIG: [7, 'argument list too long'],
	ENOEXEC: [8, 'exec format error'],
	EBADF: [9, 'bad file descriptor'],
	EAGAIN: [11, 'resource temporarily unavailable'],
	ENOMEM: [12, 'cannot allocate memory'],
	EACCES: [13, 'permission denied'],
	EFAULT: [14, 'bad address'],
	EBUSY: [16, 'device or resource busy'],
	EEXIST: [17, 'file exists'],
	EXDEV: [18, 'invalid cross-device link'],
	ENODEV: [19, 'no such device'],
	ENOTDIR: [20, 'not a directory'],
	EISDIR: [21, 'is a directory'],
	EINVAL: [22, 'invalid argument'],
	ENFILE: [23, 'too many open files in system'],
	EMFILE: [24, 'too many open files'],
	ENOTTY: [25, 'inappropriate ioctl for device'],
	ETXTBSY: [26, 'text file busy'],
	EFBIG: [27, 'file too large'],
	ENOSPC: [28, 'no space left on device'],
	ESPIPE: [29, 'illegal seek'],
	EROFS: [30, 'read-only file system'],
	EMLINK: [31, 'too many links'],
	EPIPE: [32, 'broken pipe'],
	ERANGE: [34, 'numerical result out of range'],
	EDEADLK: [35, 'resource deadlock avoided'],
	ENAMETOOLONG: [36, 'file name too long'],
	ENOLCK: [37, 'no locks available'],
	ENOSYS: [38, 'function not implemented'],
	ENOTEMPTY: [39, 'directory not empty'],
	ELOOP: [40, 'too many levels of symbolic links'],
	ENODATA: [61, 'no data available'],
	EOVERFLOW: [75, 'value too large for defined data type'],
	EOPNOTSUPP: [95, 'operation not supported'],
	EADDRINUSE: [98, 'address already in use'],
	ECONNREFUSED: [111, 'connection refused'],
	ETIMEDOUT: [110, 'connection timed out'],
	ENOTCONN: [107, 'transport endpoint is not connected'],
	ESTALE: [116, 'stale file handle'],
	EDQUOT: [122, 'disk quota exceeded'],
} as const satisfies Record<string, readonly [number: number, text: string]>;

/** The symbolic name of an error number, such as `ENOENT`. */
export type ErrnoCode = keyof typeof ERRNO;

const CODE_BY_NUMBER: ReadonlyMap<number, ErrnoCode> = new Map(
	(Object.keys(ERRNO) as ErrnoCode[]).map((code) => [ERRNO[code][0], code]),
);

/** The name of an error number; `EIO` for one that the table does not know. */
export function errnoCode(number: number): ErrnoCode {
	return CODE_BY_NUMBER.get(number) ?? 'EIO';
}

/** Whether a string is a name in the table. */
export function isErrnoCode(code: unknown): code is ErrnoCode {
	return typeof code === 'string' && Object.hasOwn(ERRNO, code);
}
