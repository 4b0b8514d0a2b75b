import type { Time } from '../base/inode.ts';
import { closeFd, openIn } from './entries.ts';
import { checked, cString, libc } from './libc.ts';
import { AT_EMPTY_PATH, AT_FDCWD, O_PATH } from './open-flags.ts';

/**
 * One inode whose metadata is to be written, held by a descriptor, so that it stays the same one whatever its name comes
 * to mean. An O_PATH descriptor opens nothing and needs no permission on the inode; the calls that do not take one go
 * through its /proc/self/fd name, which leads to the inode itself, a symlink's too. All throw PosixError.
 */
export class InodeHandle {
	readonly fd: number;
	/** Null when the descriptor is a really open one. */
	readonly #path: string | null;

	/** Holds a name in an open directory without opening it; to be closed. */
	static of(directory: number, name: string): InodeHandle {
		return new InodeHandle(openIn(directory, name, O_PATH), true);
	}

	constructor(fd: number, isPathOnly: boolean) {
		this.fd = fd;
		this.#path = isPathOnly ? `/proc/self/fd/${fd}` : null;
	}

	/** An id of -1 is left as it is. Takes away set-uid, set-gid and file capabilities. */
	chown(uid: number, gid: number): void {
		const [user, group] = [uid >>> 0, gid >>> 0];
		const result =
			this.#path === null
				? libc().fchown(this.fd, user, group)
				: libc().fchownat(this.fd, '', user, group, AT_EMPTY_PATH);
		checked(result, 'chown');
	}

	/** All twelve bits; symlinks have none to set. */
	chmod(mode: number): void {
		checked(this.#path === null ? libc().fchmod(this.fd, mode) : libc().chmod(this.#path, mode), 'chmod');
	}

	setTimes(atime: Time, mtime: Time): void {
		writeTime(atime, 0);
		writeTime(mtime, 16);
		const result =
			this.#path === null ? libc().futimens(this.fd, times) : libc().utimensat(AT_FDCWD, this.#path, times, 0);
		checked(result, 'utimensat');
	}

	setXattr(name: string, value: Buffer): void {
		const result =
			this.#path === null
				? libc().fsetxattr(this.fd, cString(name), value, value.length, 0)
				: libc().setxattr(this.#path, cString(name), value, value.length, 0);
		checked(result, `setxattr ${name}`);
	}

	removeXattr(name: string): void {
		checked(libc().removexattr(this.#path ?? `/proc/self/fd/${this.fd}`, cString(name)), `removexattr ${name}`);
	}

	close(): void {
		closeFd(this.fd);
	}
}

/** struct timespec[2]: atime, then mtime; seconds and nanoseconds, 64 bits each. */
const times = Buffer.alloc(32);

function writeTime(time: Time, at: number): void {
	times.writeBigInt64LE(BigInt(time.sec), at);
	times.writeUInt32LE(time.nsec, at + 8);
}
