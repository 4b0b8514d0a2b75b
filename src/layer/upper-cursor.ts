import { chmodSync } from 'node:fs';
import { baseName, isWithin, joinPath, parentPath } from '../base/paths.ts';
import { errorCode, type PosixError, posixErrorOf } from '../base/posix-error.ts';
import { type HostStat, statOf } from '../host/host-stat.ts';
import { checked, cString, lastErrno, libc } from '../host/libc.ts';
import {
	AT_FDCWD,
	O_CLOEXEC,
	O_DIRECTORY,
	O_NOATIME,
	O_NOFOLLOW,
	O_NONBLOCK,
	O_PATH,
	O_RDONLY,
} from '../host/open-flags.ts';
import { type HostInode, readInodeIn } from '../host/read-inode.ts';
import { UnlockedModes } from './unlocked-modes.ts';

/** Descriptors held at once for the directories above the present one; the others are opened again on the way back. */
const MAX_HELD = 128;
/** What the owner of a directory needs to list it and to reach what it holds. */
const DIRECTORY_ACCESS = 0o500;
const FILE_ACCESS = 0o400;
const OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
const OPEN_HANDLE = O_PATH | O_NOFOLLOW | O_CLOEXEC;
const OPEN_FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

interface Step {
	readonly name: string;
	readonly path: string;
	/** -1 while it is closed. */
	fd: number;
	/** Inode number on the host, noted when `fd` is closed. */
	ino: bigint | null;
	/** The permission bits to give back when it is left; null when they were not widened. */
	readonly mode: number | null;
}

/**
 * Walks an upper directory one name at a time, each opened relative to the one above and through no link, so that no
 * depth is too great and nothing the agent puts in the way leads out. A directory or file that locks out its own owner
 * (mode 000) is widened while it is needed, and gets its mode back.
 */
export class UpperCursor {
	readonly #steps: Step[];
	readonly #unlocked: UnlockedModes;
	readonly #privileged = process.geteuid?.() === 0;
	/** The shallowest step below the root whose descriptor is held. */
	#oldestHeld = 1;

	private constructor(rootFd: number, upperPath: string) {
		this.#steps = [{ name: '', path: '', fd: rootFd, ino: null, mode: null }];
		this.#unlocked = new UnlockedModes(upperPath);
	}

	/** Opens an upper directory, and gives back the modes that a killed scan left widened. Throws PosixError. */
	static open(upperPath: string): UpperCursor {
		const fd = checked(openQuietly(AT_FDCWD, upperPath, OPEN_DIRECTORY), 'open', upperPath);
		const cursor = new UpperCursor(fd, upperPath);
		try {
			cursor.#giveBackModes();
		} catch (error) {
			cursor.close();
			throw error;
		}
		return cursor;
	}

	/** Descriptor of the present directory; good until the next move. */
	get fd(): number {
		return this.#present().fd;
	}

	/** Where the cursor is, below the upper directory. */
	get path(): string {
		return this.#present().path;
	}

	/** Moves into a directory of the present one; false when the name is no directory (any more). Throws PosixError. */
	enter(name: string): boolean {
		const parent = this.#present();
		const path = joinPath(parent.path, name);
		const fd = openQuietly(parent.fd, name, OPEN_DIRECTORY);
		if (fd < 0) {
			const error = posixErrorOf(lastErrno(), 'open', path);
			if (isAnotherThing(error)) return false;
			if (error.code !== 'EACCES') throw error;
			return this.#enterLocked(name, path);
		}
		const mode = this.#privileged ? DIRECTORY_ACCESS : statOf(fd).mode;
		const locked = (mode & DIRECTORY_ACCESS) !== DIRECTORY_ACCESS;
		if (locked) this.#widen(fd, statOf(fd), DIRECTORY_ACCESS, path);
		this.#push({ name, path, fd, ino: null, mode: locked ? mode : null });
		return true;
	}

	/** Moves back to the directory above. Throws PosixError when that was moved away meanwhile. */
	leave(): void {
		const present = this.#present();
		const parent = this.#steps[this.#steps.length - 2];
		if (parent === undefined) throw new Error('the cursor is at the root');
		if (parent.fd < 0) this.#openAgain(parent, present);
		this.#steps.pop();
		this.#release(present);
	}

	/** Moves to a directory by its path; false when it is not there (any more), and the cursor is above it then. */
	goTo(path: string): boolean {
		while (!isWithin(path, this.path)) this.leave();
		const rest = path.slice(this.path === '' ? 0 : this.path.length + 1);
		return rest === '' || rest.split('/').every((name) => this.enter(name));
	}

	/** All there is to know of a name in the present directory; null when it is gone. Throws PosixError. */
	readInode(name: string): HostInode | null {
		try {
			return readInodeIn(this.fd, name);
		} catch (error) {
			// Attributes of a user's own are shown to those who may read the file.
			if (errorCode(error) !== 'EACCES') throw error;
		}
		const handle = libc().openat(this.fd, cString(name), OPEN_HANDLE, 0);
		if (handle < 0) return null;
		try {
			const stat = statOf(handle);
			this.#widen(handle, stat, FILE_ACCESS, joinPath(this.path, name));
			try {
				const found = readInodeIn(this.fd, name);
				return found === null ? null : { ...found, mode: stat.mode };
			} finally {
				this.#giveBack(handle, stat.mode);
			}
		} finally {
			libc().close(handle);
		}
	}

	/**
	 * Opens a file of the present directory for reading, without a trace in its atime where possible; null when the
	 * name is no file to be opened (any more). Call it only for what stat says is a regular file, and look at the
	 * descriptor again: the name may stand for something else meanwhile. Throws PosixError.
	 */
	openFile(name: string): number | null {
		const opened = openQuietly(this.fd, name, OPEN_FILE);
		if (opened >= 0) return opened;
		const path = joinPath(this.path, name);
		const error = posixErrorOf(lastErrno(), 'open', path);
		if (isAnotherThing(error)) return null;
		if (error.code !== 'EACCES') throw error;
		return this.#openLockedFile(name, path);
	}

	/** Leaves every directory, and closes the upper directory. */
	close(): void {
		while (this.#steps.length > 1) {
			const step = this.#steps.pop() as Step;
			if (step.fd >= 0) this.#release(step);
		}
		libc().close(this.#present().fd);
	}

	#present(): Step {
		return this.#steps[this.#steps.length - 1] as Step;
	}

	#push(step: Step): void {
		this.#steps.push(step);
		if (this.#steps.length - this.#oldestHeld <= MAX_HELD) return;
		const oldest = this.#steps[this.#oldestHeld++] as Step;
		oldest.ino = statOf(oldest.fd).ino;
		libc().close(oldest.fd);
		oldest.fd = -1;
	}

	#openAgain(step: Step, below: Step): void {
		const fd = checked(openQuietly(below.fd, '..', OPEN_DIRECTORY), 'open', step.path);
		if (statOf(fd).ino !== step.ino) {
			libc().close(fd);
			throw posixErrorOf(ENOENT, 'open', step.path);
		}
		step.fd = fd;
		this.#oldestHeld = this.#steps.indexOf(step);
	}

	#release(step: Step): void {
		if (step.mode !== null) this.#giveBack(step.fd, step.mode);
		libc().close(step.fd);
	}

	#enterLocked(name: string, path: string): boolean {
		const handle = libc().openat(this.fd, cString(name), OPEN_HANDLE | O_DIRECTORY, 0);
		if (handle < 0) return false;
		try {
			const stat = statOf(handle);
			this.#widen(handle, stat, DIRECTORY_ACCESS, path);
			const fd = checked(openQuietly(handle, '.', OPEN_DIRECTORY), 'open', path);
			this.#push({ name, path, fd, ino: null, mode: stat.mode });
			return true;
		} finally {
			libc().close(handle);
		}
	}

	#openLockedFile(name: string, path: string): number | null {
		const handle = libc().openat(this.fd, cString(name), OPEN_HANDLE, 0);
		if (handle < 0) return null;
		try {
			const stat = statOf(handle);
			if (stat.kind !== 'file') return null;
			this.#widen(handle, stat, FILE_ACCESS, path);
			try {
				const again = OPEN_FILE & ~O_NOFOLLOW;
				return checked(openQuietly(AT_FDCWD, `/proc/self/fd/${handle}`, again), 'open', path);
			} finally {
				this.#giveBack(handle, stat.mode);
			}
		} finally {
			libc().close(handle);
		}
	}

	/** By way of /proc, for a handle opened with O_PATH takes no fchmod(2). */
	#widen(fd: number, stat: HostStat, access: number, path: string): void {
		this.#unlocked.add({ path, ino: String(stat.ino), mode: stat.mode });
		chmodSync(`/proc/self/fd/${fd}`, stat.mode | access);
	}

	#giveBack(fd: number, mode: number): void {
		chmodSync(`/proc/self/fd/${fd}`, mode);
		this.#unlocked.dropLast();
	}

	#giveBackModes(): void {
		const left = this.#unlocked.left();
		if (left.length === 0) return;
		for (const { path, ino, mode } of left.reverse()) {
			if (!this.goTo(parentPath(path))) continue;
			const handle = libc().openat(this.fd, cString(baseName(path)), OPEN_HANDLE, 0);
			if (handle < 0) continue;
			try {
				const stat = statOf(handle);
				const isOurs = String(stat.ino) === ino && (stat.kind === 'file' || stat.kind === 'directory');
				if (isOurs) chmodSync(`/proc/self/fd/${handle}`, mode);
			} finally {
				libc().close(handle);
			}
		}
		this.goTo('');
		this.#unlocked.forget();
	}
}

const EPERM = 1;
const ENOENT = 2;

/** Leaves no trace in atime where we may ask for that: of what is our own. */
function openQuietly(directory: number, name: string, flags: number): number {
	const path = cString(name);
	const fd = libc().openat(directory, path, flags | O_NOATIME, 0);
	return fd < 0 && lastErrno() === EPERM ? libc().openat(directory, path, flags, 0) : fd;
}

/** Errors of an open whose name is gone, or was given to a link or a socket, since it was looked at. */
function isAnotherThing(error: PosixError): boolean {
	return error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ELOOP' || error.code === 'ENXIO';
}
