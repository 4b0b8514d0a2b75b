import { baseName, parentPath } from '../base/paths.ts';
import { closeFd, openIn } from './entries.ts';
import { O_DIRECTORY, O_PATH } from './open-flags.ts';
import { OWNER_SEARCH, withOwnerAccess } from './owner-access.ts';

/**
 * Open handles on the directories of a tree by their paths below its root, each opened from its parent's and through no
 * link. The ones used last are kept, so that work that goes through a tree in order opens each directory once, and a path
 * may be longer than PATH_MAX. A handle (O_PATH) serves the *at calls; it stays the caller's to use until MOST_OPEN further
 * directories have been asked for.
 */
export class DirectoryHandles {
	readonly #root: number;
	/** Told of each directory before anything below it is touched. */
	readonly #opened: (path: string, directory: number) => void;
	/** The least recently used first. */
	readonly #open = new Map<string, number>();

	/** `root` stays the caller's, and is told of at once. */
	constructor(root: number, opened: (path: string, directory: number) => void = () => undefined) {
		this.#root = root;
		this.#opened = opened;
		opened('', root);
	}

	/** The directory at a path; '' is the root. Throws PosixError: ENOENT, ENOTDIR (a link too), EACCES. */
	at(path: string): number {
		if (path === '') return this.#root;
		const known = this.#open.get(path);
		return known === undefined ? this.#openFromNearest(path) : this.#touch(path, known);
	}

	/** Closes what is open at a path and below, which is about to be removed or replaced. */
	forget(path: string): void {
		const below = `${path}/`;
		for (const [open, fd] of this.#open) {
			if (open !== path && !open.startsWith(below)) continue;
			this.#open.delete(open);
			closeFd(fd);
		}
	}

	/** Closes all but the root. */
	close(): void {
		for (const fd of this.#open.values()) closeFd(fd);
		this.#open.clear();
	}

	/** Goes up to the nearest open directory, and from there down. */
	#openFromNearest(path: string): number {
		const missing: string[] = [];
		let directory: number | undefined;
		for (let above = path; directory === undefined; above = parentPath(above)) {
			directory = above === '' ? this.#root : this.#open.get(above);
			if (directory === undefined) missing.push(above);
		}
		for (const next of missing.reverse()) directory = this.#openOne(directory, next);
		return directory;
	}

	#openOne(parent: number, path: string): number {
		const open = () => openIn(parent, baseName(path), O_PATH | O_DIRECTORY);
		const fd = withOwnerAccess(parent, '', OWNER_SEARCH, open);
		this.#touch(path, fd);
		this.#opened(path, fd);
		this.#closeOldest();
		return fd;
	}

	#touch(path: string, fd: number): number {
		this.#open.delete(path);
		this.#open.set(path, fd);
		return fd;
	}

	#closeOldest(): void {
		if (this.#open.size <= MOST_OPEN) return;
		const [[path, fd]] = this.#open as unknown as [[string, number]];
		this.#open.delete(path);
		closeFd(fd);
	}
}

const MOST_OPEN = 128;
