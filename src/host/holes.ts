import { posixErrorOf } from '../base/posix-error.ts';
import { lastErrno, libc } from './libc.ts';

/** A run of bytes of a file that is not a hole: from `start` up to, not including, `end`. */
export interface DataRange {
	readonly start: number;
	readonly end: number;
}

/**
 * The runs of data up to `size`, in order (SEEK_DATA and SEEK_HOLE of lseek(2)); what lies between reads as zeros. Moves
 * the descriptor's offset. A filesystem that cannot tell says that all is data. Throws PosixError.
 */
export function* dataRanges(fd: number, size: number): Generator<DataRange> {
	for (let at = 0; at < size; ) {
		const start = seek(fd, at, SEEK_DATA);
		if (start === null || start >= size) return;
		const end = Math.min(seek(fd, start, SEEK_HOLE) ?? size, size);
		// The data may have been punched out between the two calls.
		if (end > start) yield { start, end };
		at = Math.max(end, at + 1);
	}
}

const SEEK_DATA = 3;
const SEEK_HOLE = 4;
const ENXIO = 6;
const EINVAL = 22;

/** Null when there is no more data behind the offset. */
function seek(fd: number, offset: number, whence: typeof SEEK_DATA | typeof SEEK_HOLE): number | null {
	const found = libc().lseek(fd, offset, whence);
	if (found >= 0) return found;
	const errno = lastErrno();
	if (errno === ENXIO) return null;
	if (errno === EINVAL) return whence === SEEK_DATA ? offset : null;
	throw posixErrorOf(errno, 'lseek');
}
