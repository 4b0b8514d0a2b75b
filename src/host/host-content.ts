import { type Content, PIECE_BYTES, type Piece } from '../base/change.ts';
import { PosixError } from '../base/posix-error.ts';
import { closeFd, openIn } from './entries.ts';
import { dataRanges } from './holes.ts';
import { type HostStat, statIn, statOf } from './host-stat.ts';
import { checked, lastErrno, libc } from './libc.ts';
import { O_NOATIME, O_NONBLOCK, O_RDONLY } from './open-flags.ts';
import { OWNER_READ, withOwnerAccess } from './owner-access.ts';

/**
 * Opens a regular file of an open directory for reading, and nothing else: what is no regular file is never opened, since
 * a FIFO would wait and a device might act. Leaves atime alone where it may. With `asOwner`, a file of our own that denies
 * its owner reading is opened nevertheless. The caller closes it. Throws PosixError: ENOENT, EISDIR, EINVAL for other
 * kinds, ESTALE when the name came to mean another inode meanwhile.
 */
export function openFileIn(directory: number, name: string, asOwner: boolean): { fd: number; stat: HostStat } {
	const before = statIn(directory, name);
	if (before === null) throw new PosixError('ENOENT', 'open', name);
	if (before.kind !== 'file') throw new PosixError(before.kind === 'directory' ? 'EISDIR' : 'EINVAL', 'open', name);
	const open = () => openQuietly(directory, name);
	const fd = asOwner ? withOwnerAccess(directory, name, OWNER_READ, open) : open();
	const stat = statOf(fd);
	if (stat.ino === before.ino && stat.dev === before.dev) return { fd, stat };
	closeFd(fd);
	throw new PosixError('ESTALE', 'open', name);
}

/**
 * The first `size` bytes of an open file as {@link Content}: the windows with data, the holes left out. The descriptor
 * stays the caller's. Reading throws PosixError, ESTALE when the file is shorter by then.
 */
export function contentOfFd(fd: number, size: number, path: string): Content {
	return { size, pieces: () => readWindows(fd, size, path) };
}

/** Content that opens its file when it is read and closes it when the reader is done. */
export function contentOfFile(size: number, path: string, open: () => { fd: number; stat: HostStat }): Content {
	return {
		size,
		*pieces() {
			const { fd } = open();
			try {
				yield* readWindows(fd, size, path);
			} finally {
				closeFd(fd);
			}
		},
	};
}

const EPERM = 1;

/** Only its owner may ask that reading a file leaves its atime alone. */
function openQuietly(directory: number, name: string): number {
	try {
		return openIn(directory, name, O_RDONLY | O_NONBLOCK | O_NOATIME);
	} catch (error) {
		if (!(error instanceof PosixError) || error.errno !== EPERM) throw error;
		return openIn(directory, name, O_RDONLY | O_NONBLOCK);
	}
}

function* readWindows(fd: number, size: number, path: string): Generator<Piece> {
	if (size === 0) return;
	const room = Buffer.allocUnsafe(Math.min(size, PIECE_BYTES));
	// A file of one window is not worth asking about holes, unless it is one whole hole.
	const ranges =
		size <= PIECE_BYTES && statOf(fd).allocatedBytes > 0 ? [{ start: 0, end: size }] : dataRanges(fd, size);
	let next = 0;
	for (const range of ranges) {
		const first = Math.max(next, range.start - (range.start % PIECE_BYTES));
		for (next = first; next < range.end; next += PIECE_BYTES) {
			const data = room.subarray(0, Math.min(PIECE_BYTES, size - next));
			readFully(fd, data, next, path);
			yield { offset: next, data };
		}
	}
}

function readFully(fd: number, into: Buffer, offset: number, path: string): void {
	for (let at = 0; at < into.length; ) {
		const length = libc().pread(fd, into.subarray(at), into.length - at, offset + at);
		if (length < 0 && lastErrno() === EINTR) continue;
		if (checked(length, 'read', path) === 0) throw new PosixError('ESTALE', 'read', path);
		at += length;
	}
}

const EINTR = 4;
