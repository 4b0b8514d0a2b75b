import { closeSync, constants, openSync } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { errorCode, posixErrorOf } from '../base/posix-error.ts';
import { checked, lastErrno, libc } from './libc.ts';

/** The byte held exclusively by the one process that writes the session's tree. */
export const LOCK_OWNER = 0;
/** The byte shared by every process that has the session's file open; exclusive only to replace the file. */
export const LOCK_OPEN = 1;
/** Byte LOCK_SNAPSHOT_BASE + n is shared while snapshot n is read. */
export const LOCK_SNAPSHOT_BASE = 1000;

export type LockKind = 'shared' | 'exclusive';

/**
 * Byte-range locks that belong to the open file and not to the process (open file description locks, fcntl(2)): another
 * descriptor of the same file, closed anywhere in the process, does not drop them; a child that inherits the descriptor
 * shares them; they end when the last copy of the descriptor is closed. A range that is held can be locked again as the
 * other kind: it is converted without a gap.
 */
export class LockFile {
	/** Handed to a child that is to share the locks. */
	readonly fd: number;
	readonly path: string;

	/** Opens the file, made empty and for its owner only when it is missing. Throws node:fs errors. */
	static open(path: string): LockFile {
		const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
		return new LockFile(openSync(fsPath(path), flags, 0o600), path);
	}

	/** Opens the file to ask {@link holder} alone; null when there is none. Throws node:fs errors. */
	static openToLook(path: string): LockFile | null {
		try {
			return new LockFile(openSync(fsPath(path), constants.O_RDONLY | constants.O_NOFOLLOW), path);
		} catch (error) {
			if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
			throw error;
		}
	}

	private constructor(fd: number, path: string) {
		this.fd = fd;
		this.path = path;
	}

	/** Takes the range, or says that another open file holds it against us; never waits. Throws PosixError. */
	tryLock(start: number, length: number, kind: LockKind): boolean {
		if (this.#fcntl(F_OFD_SETLK, kind === 'shared' ? F_RDLCK : F_WRLCK, start, length) === 0) return true;
		const errno = lastErrno();
		if (errno === EAGAIN || errno === EACCES) return false;
		throw posixErrorOf(errno, 'lock', this.path);
	}

	/** Lets the range go, held or not. Throws PosixError. */
	unlock(start: number, length: number): void {
		checked(this.#fcntl(F_OFD_SETLK, F_UNLCK, start, length), 'unlock', this.path);
	}

	/**
	 * How another open file holds the range against a lock of `kind` that we would take; takes nothing, and does not see
	 * our own locks. Throws PosixError.
	 */
	holder(start: number, length: number, kind: LockKind): 'none' | LockKind {
		checked(this.#fcntl(F_OFD_GETLK, kind === 'shared' ? F_RDLCK : F_WRLCK, start, length), 'lock', this.path);
		const found = flock.readInt16LE(0);
		return found === F_UNLCK ? 'none' : found === F_RDLCK ? 'shared' : 'exclusive';
	}

	/** Closes our descriptor, and lets go what no child shares. */
	close(): void {
		closeSync(this.fd);
	}

	#fcntl(command: number, type: number, start: number, length: number): number {
		flock.fill(0);
		flock.writeInt16LE(type, 0);
		flock.writeBigInt64LE(BigInt(start), 8);
		flock.writeBigInt64LE(BigInt(length), 16);
		return libc().fcntl(this.fd, command, 'void *', flock);
	}
}

const F_OFD_GETLK = 36;
const F_OFD_SETLK = 37;
const F_RDLCK = 0;
const F_WRLCK = 1;
const F_UNLCK = 2;
const EAGAIN = 11;
const EACCES = 13;

/** struct flock of 64-bit Linux: type and whence (16 bits each), start at 8, length at 16, pid at 24. */
const flock = Buffer.alloc(32);
