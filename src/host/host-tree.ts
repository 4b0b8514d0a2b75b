import type { Change, Content } from '../base/change.ts';
import type { Kind, Time } from '../base/inode.ts';
import { baseName, parentPath } from '../base/paths.ts';
import { aboutPath, errorCode, PosixError } from '../base/posix-error.ts';
import { applyChanges } from './apply-changes.ts';
import type { ApplyOptions } from './apply-options.ts';
import { DirectoryHandles } from './directory-handles.ts';
import { closeFd, listIn, openIn } from './entries.ts';
import { contentOfFile, openFileIn } from './host-content.ts';
import { type HostStat, statIn, statOf } from './host-stat.ts';
import { checked, cString, libc } from './libc.ts';
import { openBeneath } from './open-beneath.ts';
import { AT_FDCWD, O_CLOEXEC, O_DIRECTORY, O_PATH, O_RDONLY } from './open-flags.ts';
import { OWNER_READ, OWNER_SEARCH, withOwnerAccess } from './owner-access.ts';
import { type HostInode, readDirectoryOf, readInodeIn } from './read-inode.ts';
import { assertTreePath } from './tree-path.ts';

/** What tells whether a path still is what it was when it was looked at. */
export interface Fingerprint {
	readonly kind: Kind;
	readonly mode: number;
	readonly size: number;
	readonly ino: bigint;
	readonly mtime: Time;
	readonly ctime: Time;
}

/**
 * A directory tree of the host, read and written beneath its root and through no link: every step is taken from an open
 * directory, nothing is opened that is not a regular file, and a link in the middle of a path means that nothing is there.
 * The one writer of host trees. With `rw`, files and directories of our own that deny their owner access are opened up for
 * as long as it takes (see {@link withOwnerAccess}); with `ro` nothing is ever changed, not even an atime where the kernel
 * lets us. Failures are PosixError; a path with '..' in it is EINVAL.
 */
export class HostTree {
	/** Absolute or relative, as it was opened. */
	readonly root: string;
	readonly #fd: number;
	readonly #isWritable: boolean;

	/** Opens a tree by its root, whose own path may lead through links. Throws PosixError: ENOENT, ENOTDIR, EACCES. */
	static open(root: string, access: 'ro' | 'rw'): HostTree {
		const flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
		return new HostTree(root, checked(libc().openat(AT_FDCWD, cString(root), flags, 0), 'open', root), access);
	}

	private constructor(root: string, fd: number, access: 'ro' | 'rw') {
		this.root = root;
		this.#fd = fd;
		this.#isWritable = access === 'rw';
	}

	/** The names in a directory, in no particular order. */
	list(path: string): string[] {
		return this.#inside(path, path, (directory) => this.#asOwner(directory, '', OWNER_READ, () => listIn(directory)));
	}

	/** What is at a path, extended attributes and link target included; null when nothing is. */
	stat(path: string): HostInode | null {
		if (path === '') return readDirectoryOf(this.#fd, this.#isWritable);
		return this.#orNull(path, (directory, name) => readInodeIn(directory, name, this.#isWritable));
	}

	/** The same without attributes and target: a fifth of the cost. */
	statBare(path: string): HostStat | null {
		return path === '' ? statOf(this.#fd) : this.#orNull(path, statIn);
	}

	/** Names of one directory with {@link statBare} of each: the cheapest way to look at many. */
	statAll(path: string): [name: string, stat: HostStat][] {
		return this.#inside(path, path, (directory) => {
			const names = this.#asOwner(directory, '', OWNER_READ, () => listIn(directory));
			return statEach(directory, names);
		});
	}

	/**
	 * A regular file's bytes; opened when they are read, and each time. `size` when it is known, else it is asked now.
	 * Throws ENOENT, EISDIR, and EINVAL for what is neither; reading throws ESTALE when the file became shorter.
	 */
	content(path: string, size?: number): Content {
		const known = size ?? this.#fileSize(path);
		return contentOfFile(known, path, () =>
			this.#inside(parentPath(path), path, (directory) => openFileIn(directory, baseName(path), this.#isWritable)),
		);
	}

	/** Null when nothing is there. */
	fingerprint(path: string): Fingerprint | null {
		const stat = this.statBare(path);
		if (stat === null) return null;
		const { kind, mode, size, ino, mtime, ctime } = stat;
		return { kind, mode, size, ino, mtime, ctime };
	}

	/** Writes changes to the tree; see {@link applyChanges}, which it is. */
	apply(changes: readonly Change[], options: ApplyOptions): void {
		if (!this.#isWritable) throw new Error(`${this.root} was opened to be read only`);
		applyChanges(this.#fd, changes, options);
	}

	/** Returns when all that was written to the tree's filesystem is on disk. */
	sync(): void {
		const fd = this.#asOwner(this.#fd, '', OWNER_READ, () => openIn(this.#fd, '.', O_RDONLY | O_DIRECTORY));
		try {
			checked(libc().syncfs(fd), 'syncfs', this.root);
		} finally {
			closeFd(fd);
		}
	}

	close(): void {
		closeFd(this.#fd);
	}

	#fileSize(path: string): number {
		const stat = this.statBare(path);
		if (stat === null) throw new PosixError('ENOENT', 'open', path);
		if (stat.kind === 'directory') throw new PosixError('EISDIR', 'open', path);
		if (stat.kind !== 'file') throw new PosixError('EINVAL', 'open', path);
		return stat.size;
	}

	/** Looks at a name in its directory; null when there is no such directory. */
	#orNull<T>(path: string, look: (directory: number, name: string) => T): T | null {
		try {
			const name = baseName(path);
			return this.#inside(parentPath(path), path, (directory) => look(directory, name));
		} catch (error) {
			const code = errorCode(error);
			if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return null;
			throw error;
		}
	}

	/** Does something in an open directory of the tree; a failure is about `path`. */
	#inside<T>(directoryPath: string, path: string, work: (directory: number) => T): T {
		assertTreePath(path);
		const search = (directory: number) => this.#asOwner(directory, '', OWNER_SEARCH, () => work(directory));
		try {
			return directoryPath === '' ? search(this.#fd) : this.#opened(directoryPath, search);
		} catch (error) {
			throw aboutPath(error, path);
		}
	}

	#opened<T>(path: string, work: (directory: number) => T): T {
		const fd = this.#tryOpen(path);
		if (fd === null) return this.#openedAsOwner(path, work);
		try {
			return work(fd);
		} finally {
			closeFd(fd);
		}
	}

	/** Null when a directory on the way denies us, and may be opened up. */
	#tryOpen(path: string): number | null {
		try {
			return openBeneath(this.#fd, path, O_PATH | O_DIRECTORY);
		} catch (error) {
			if (this.#isWritable && errorCode(error) === 'EACCES') return null;
			throw error;
		}
	}

	#openedAsOwner<T>(path: string, work: (directory: number) => T): T {
		const directories = new DirectoryHandles(this.#fd);
		try {
			return work(directories.at(path));
		} finally {
			directories.close();
		}
	}

	#asOwner<T>(directory: number, name: string, bits: number, work: () => T): T {
		return this.#isWritable ? withOwnerAccess(directory, name, bits, work) : work();
	}
}

/** A name that goes meanwhile is left out. */
function statEach(directory: number, names: readonly string[]): [string, HostStat][] {
	const found: [string, HostStat][] = [];
	for (const name of names) {
		const stat = statIn(directory, name);
		if (stat !== null) found.push([name, stat]);
	}
	return found;
}
