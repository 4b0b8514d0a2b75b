import { joinPath } from '../base/paths.ts';
import { errorCode, PosixError } from '../base/posix-error.ts';
import { closeFd, listDirectoriesIn, openIn } from '../host/entries.ts';
import { IN_ATTRIB, IN_CREATE, IN_IGNORED, IN_ISDIR, IN_MOVED_TO, IN_Q_OVERFLOW, Inotify } from '../host/inotify.ts';
import { AT_FDCWD, O_DIRECTORY, O_RDONLY } from '../host/open-flags.ts';

/** A tree to be watched. */
export interface WatchedTree {
	/** The directory on the host. */
	readonly path: string;
	/** Directories that are passed over with all below them. */
	readonly passesOver?: (path: string) => boolean;
}

/** A moment to which changes are reckoned; later ones are greater, and 0 is before all. */
export type WatchMark = number;

/** A directory that is watched, where it was when last heard of. */
interface Directory<TREE> {
	readonly tree: TREE;
	parent: Directory<TREE> | null;
	name: string;
	/** The last mark when something happened in it, or when it was first watched. */
	changedAfter: WatchMark;
}

/** Somewhere that directories are to be looked for. */
interface Listing<TREE> {
	readonly directory: Directory<TREE>;
	readonly isMoved: boolean;
}

/**
 * Knows in which directories of some trees something has changed since a moment, by the kernel's events: one watch for each
 * directory. Directories are found by listing, always after their own watch was set, so that what is made meanwhile shows
 * either in the list or as an event; and each counts as changed when its watch is set, so that what changed in it before is
 * looked at. The kernel's queue is emptied by {@link drain} alone.
 *
 * What no event tells: stores through a mapping that is still there, and writes to a file that got another name and lost one
 * since: overlayfs may go on telling of it by the name that is gone.
 */
export class TreeWatch<TREE extends string> {
	readonly #trees: ReadonlyMap<TREE, WatchedTree>;
	readonly #inotify = Inotify.open();
	readonly #directories = new Map<number, Directory<TREE>>();
	/** Directories that changed since {@link forget}. */
	readonly #changed = new Set<Directory<TREE>>();
	/** What is still to be listed: until then not every directory is known. */
	#listings: Listing<TREE>[] = [];
	/** Directories that may not be watched, tried again with each drain. */
	readonly #locked = new Map<string, Directory<TREE>>();
	#now: WatchMark = 1;
	/** The last mark before events were lost. */
	#lostAfter: WatchMark = -1;
	#failure: PosixError | null = null;

	/** Watches nothing yet: {@link register} does. Throws PosixError when there is no room for a further queue. */
	constructor(trees: ReadonlyMap<TREE, WatchedTree>) {
		this.#trees = trees;
		this.#addRoots();
	}

	/** What keeps it from ever knowing everything, such as ENOSPC for the user's limit of watches; null when nothing does. */
	get failure(): PosixError | null {
		return this.#failure;
	}

	/** Whether directories are left that {@link register} has not come to. */
	get isRegistering(): boolean {
		return this.#listings.length > 0;
	}

	/** Reads all that has happened, in order; how many events there were. */
	drain(): number {
		const events = this.#inotify.read(IN_ISDIR, (watch, mask, name) => this.#take(watch, mask, name));
		for (const [name, directory] of this.#takeLocked()) this.#enter(directory, name, true);
		return events;
	}

	/** Looks for directories to be watched, for so long. */
	register(budgetMs: number): void {
		const end = performance.now() + budgetMs;
		for (let next = this.#listings.pop(); next !== undefined; next = this.#listings.pop()) {
			this.#list(next);
			if (performance.now() >= end) return;
		}
	}

	/** The present, for {@link changedSince}. To be taken after a drain. */
	mark(): WatchMark {
		return ++this.#now;
	}

	/** Directories of a tree, by their paths, in which something has changed since a mark; null when that is not known. */
	changedSince(tree: TREE, mark: WatchMark): Set<string> | null {
		const isKnown = this.#failure === null && this.#locked.size === 0 && !this.isRegistering && this.#lostAfter < mark;
		if (!isKnown) return null;
		const paths = new Set<string>();
		for (const directory of this.#changed) {
			if (directory.tree === tree && directory.changedAfter >= mark) paths.add(pathOf(directory));
		}
		return paths;
	}

	/** Lets go of what changed before a mark: nobody will ask for it. */
	forget(mark: WatchMark): void {
		for (const directory of this.#changed) if (directory.changedAfter < mark) this.#changed.delete(directory);
	}

	close(): void {
		this.#inotify.close();
	}

	#take(watch: number, mask: number, name: string): void {
		if ((mask & IN_Q_OVERFLOW) !== 0) {
			this.#loseTrack();
			return;
		}
		const directory = this.#directories.get(watch);
		if (directory === undefined) return;
		if ((mask & IN_IGNORED) !== 0) {
			this.#directories.delete(watch);
			this.#changed.delete(directory);
			return;
		}
		this.#touch(directory);
		if (name !== '' && (mask & MAY_SHOW_DIRECTORY) !== 0) this.#enter(directory, name, (mask & IN_MOVED_TO) !== 0);
	}

	#touch(directory: Directory<TREE>): void {
		directory.changedAfter = this.#now;
		this.#changed.add(directory);
	}

	/** What has changed until now is not known, nor where every directory is. */
	#loseTrack(): void {
		this.#lostAfter = this.#now;
		this.#addRoots();
	}

	/** Finds every directory anew; those that are known keep their watches. */
	#addRoots(): void {
		this.#listings = [];
		for (const tree of this.#trees.keys()) this.#watch(tree, null, '', true);
	}

	#enter(parent: Directory<TREE>, name: string, isMoved: boolean): void {
		const path = joinPath(pathOf(parent), name);
		if (this.#trees.get(parent.tree)?.passesOver?.(path) !== true) this.#watch(parent.tree, parent, name, isMoved);
	}

	/** `isMoved`: below it, too, every path may be another than what was known. */
	#watch(tree: TREE, parent: Directory<TREE> | null, name: string, isMoved: boolean): void {
		const added = this.#add(tree, parent, name);
		if (added === null) return;
		const known = this.#directories.get(added);
		const directory = known ?? { tree, parent, name, changedAfter: this.#now };
		const isElsewhere = directory.parent !== parent || directory.name !== name;
		// so it looks while moves are under way of which the events are still to come
		if (isElsewhere && isBelow(parent, directory)) {
			this.#loseTrack();
			return;
		}
		directory.parent = parent;
		directory.name = name;
		if (known === undefined) {
			this.#directories.set(added, directory);
			this.#touch(directory);
		}
		if (known === undefined || isMoved || isElsewhere) this.#listings.push({ directory, isMoved: known !== undefined });
	}

	#add(tree: TREE, parent: Directory<TREE> | null, name: string): number | null {
		if (this.#failure !== null) return null;
		const path = parent === null ? '' : joinPath(pathOf(parent), name);
		try {
			return this.#inotify.add(this.#hostPath(tree, path));
		} catch (error) {
			if (!(error instanceof PosixError)) throw error;
			if (parent !== null && LOCKED.has(error.code)) this.#locked.set(`${tree}/${path}`, parent);
			else if (!GONE.has(error.code)) this.#failure = error;
			return null;
		}
	}

	#list({ directory, isMoved }: Listing<TREE>): void {
		for (const name of this.#namesIn(directory)) this.#enter(directory, name, isMoved);
	}

	#namesIn(directory: Directory<TREE>): string[] {
		try {
			const fd = openIn(AT_FDCWD, this.#hostPath(directory.tree, pathOf(directory)), O_RDONLY | O_DIRECTORY);
			try {
				return listDirectoriesIn(fd);
			} finally {
				closeFd(fd);
			}
		} catch (error) {
			const code = errorCode(error);
			if (code === null) throw error;
			// of one that is gone or elsewhere by now, an event tells
			if (!GONE.has(code)) this.#lock(directory);
			return [];
		}
	}

	/** A directory that could be watched and not be listed is tried again like one that could not be watched. */
	#lock(directory: Directory<TREE>): void {
		const { tree, parent } = directory;
		if (parent === null) this.#failure = new PosixError('EACCES', 'list', this.#hostPath(tree, ''));
		else this.#locked.set(`${tree}/${pathOf(directory)}`, parent);
	}

	/** By names in directories, to be entered again. */
	#takeLocked(): [name: string, parent: Directory<TREE>][] {
		const taken = Array.from(this.#locked, ([path, parent]): [string, Directory<TREE>] => [
			path.slice(path.lastIndexOf('/') + 1),
			parent,
		]);
		this.#locked.clear();
		return taken;
	}

	#hostPath(tree: TREE, path: string): string {
		const root = (this.#trees.get(tree) as WatchedTree).path;
		return path === '' ? root : joinPath(root, path);
	}
}

/** Events about a directory that may be watched from now on, or may be elsewhere than it was. */
const MAY_SHOW_DIRECTORY = IN_CREATE | IN_MOVED_TO | IN_ATTRIB;

const LOCKED = new Set(['EACCES', 'ENAMETOOLONG']);
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

function isBelow<TREE>(directory: Directory<TREE> | null, ancestor: Directory<TREE>): boolean {
	for (let above = directory; above !== null; above = above.parent) if (above === ancestor) return true;
	return false;
}

function pathOf<TREE>(directory: Directory<TREE>): string {
	let path = directory.name;
	for (let above = directory.parent; above !== null && above.parent !== null; above = above.parent) {
		path = joinPath(above.name, path);
	}
	return path;
}
