import { ERRNO, type ErrnoCode, errnoCode, isErrnoCode } from './errno.ts';

/** A file operation that failed as POSIX says it may. The only failure of the filesystem layers. */
export class PosixError extends Error {
	override readonly name = 'PosixError';
	/** Positive error number, as in errno.h. */
	readonly errno: number;
	readonly code: ErrnoCode;
	/** What was tried, such as `rename`. */
	readonly operation: string;
	readonly path: string | null;

	constructor(code: ErrnoCode, operation: string, path: string | null = null, cause?: unknown) {
		super(`${operation}${path === null ? '' : ` ${path}`}: ${ERRNO[code][1]}`, { cause });
		this.code = code;
		this.errno = ERRNO[code][0];
		this.operation = operation;
		this.path = path;
	}
}

/** The failure that a system call's positive error number stands for. */
export function posixErrorOf(errno: number, operation: string, path: string | null = null): PosixError {
	return new PosixError(errnoCode(errno), operation, path);
}

/** The code of anything thrown by node:fs or by us, or null when it is no failed file operation. */
export function errorCode(error: unknown): ErrnoCode | null {
	const code = (error as { code?: unknown } | null)?.code;
	return isErrnoCode(code) ? code : null;
}

/** Whether a file operation failed since the disk, or the user's share of it, is full. */
export function isDiskFull(error: unknown): boolean {
	const code = errorCode(error);
	return code === 'ENOSPC' || code === 'EDQUOT';
}

/** The error, saying the whole path when it is a failed file operation that knew a name in a directory only. */
export function aboutPath(error: unknown, path: string): unknown {
	if (!(error instanceof PosixError) || error.path === path) return error;
	return new PosixError(error.code, error.operation, path, error);
}
