import { LargestOf } from './largest-of.ts';

/** The columns of an inode that the checks look at. */
export interface InodeFacts {
	readonly root: number;
	readonly mode: number;
	readonly nlink: number;
	readonly size: number;
	readonly chunkBytes: number;
}

/** One state of the layer trees as counts: enough to tell whether it is a tree. Takes rows that make no sense, too. */
export class IntegrityState {
	readonly inodes = new Map<number, InodeFacts>();
	/** Entries that name an inode. */
	readonly names = new Map<number, number>();
	/** Entries in a directory, whiteouts included. */
	readonly children = new Map<number, number>();
	/** The directory of the entry that was added last, of each inode. */
	readonly parents = new Map<number, number>();
	readonly xattrs = new Map<number, number>();
	readonly chunks = new Map<number, LargestOf>();
	readonly roots: ReadonlySet<number>;
	/** Inodes that something was done to since {@link settle}. */
	readonly touched = new Set<number>();
	/** Directories that a walk up has passed since {@link settle}. */
	readonly climbed = new Set<number>();

	constructor(roots: Iterable<number>) {
		this.roots = new Set(roots);
	}

	isDirectory(ino: number): boolean {
		return this.#hasType(ino, 0o040000);
	}

	isFile(ino: number): boolean {
		return this.#hasType(ino, 0o100000);
	}

	addInode(ino: number, facts: InodeFacts): void {
		this.touched.add(ino);
		this.inodes.set(ino, facts);
	}

	removeInode(ino: number): void {
		this.touched.add(ino);
		this.inodes.delete(ino);
	}

	addEntry(parent: number, ino: number): void {
		this.touched.add(parent);
		count(this.children, parent, 1);
		if (ino === 0) return;
		this.touched.add(ino);
		count(this.names, ino, 1);
		this.parents.set(ino, parent);
	}

	removeEntry(parent: number, ino: number): void {
		this.touched.add(parent);
		count(this.children, parent, -1);
		if (ino === 0) return;
		this.touched.add(ino);
		count(this.names, ino, -1);
		if (this.parents.get(ino) === parent) this.parents.delete(ino);
	}

	addChunk(ino: number, idx: number): void {
		this.touched.add(ino);
		let chunks = this.chunks.get(ino);
		if (chunks === undefined) {
			chunks = new LargestOf();
			this.chunks.set(ino, chunks);
		}
		chunks.add(idx);
	}

	removeChunk(ino: number, idx: number): void {
		this.touched.add(ino);
		this.chunks.get(ino)?.delete(idx);
	}

	addXattr(ino: number): void {
		this.touched.add(ino);
		count(this.xattrs, ino, 1);
	}

	removeXattr(ino: number): void {
		this.touched.add(ino);
		count(this.xattrs, ino, -1);
	}

	/** Forgets what was touched: the state has been looked at. */
	settle(): void {
		this.touched.clear();
		this.climbed.clear();
	}

	#hasType(ino: number, type: number): boolean {
		return ((this.inodes.get(ino)?.mode ?? 0) & 0o170000) === type;
	}
}

/** A claim about one inode of a state, looked at whenever the inode was touched. */
export interface StateCheck {
	readonly name: string;
	readonly what: string;
	/** What is wrong, to be read after "inode N"; null when the claim holds. */
	problem(state: IntegrityState, ino: number): string | null;
}

export const STATE_CHECKS: readonly StateCheck[] = [
	{
		name: 'entry.target_exists',
		what: 'every entry names an inode that exists',
		problem: ({ names, inodes }, ino) => (names.has(ino) && !inodes.has(ino) ? 'is named but does not exist' : null),
	},
	{
		name: 'entry.parent_is_directory',
		what: 'every entry stands in a directory',
		problem: (state, ino) =>
			state.children.has(ino) && !state.isDirectory(ino) ? 'holds names but is no directory' : null,
	},
	{
		name: 'inode.nlink',
		what: 'nlink counts the names of an inode; one without a name has 0, a root 1',
		problem({ inodes, names, roots }, ino) {
			const nlink = inodes.get(ino)?.nlink;
			const expected = (names.get(ino) ?? 0) + (roots.has(ino) ? 1 : 0);
			return nlink === undefined || nlink === expected ? null : `has nlink ${nlink} where ${expected} is right`;
		},
	},
	{
		name: 'directory.one_name',
		what: 'a directory has one name, and a root none',
		problem(state, ino) {
			const names = state.names.get(ino) ?? 0;
			if (!state.isDirectory(ino) || names <= (state.roots.has(ino) ? 0 : 1)) return null;
			return `is a directory with ${names} names`;
		},
	},
	{
		name: 'directory.reachable',
		what: 'every directory that holds names leads up to a root',
		problem: (state, ino) => (state.isDirectory(ino) && state.children.has(ino) ? climb(state, ino) : null),
	},
	{
		name: 'entry.same_root',
		what: 'an inode is in the tree of its directory',
		problem({ inodes, parents }, ino) {
			const root = inodes.get(ino)?.root;
			const parent = inodes.get(parents.get(ino) ?? 0);
			return root === undefined || parent === undefined || parent.root === root
				? null
				: 'stands in another root’s tree';
		},
	},
	{
		name: 'chunk.of_file',
		what: 'only files have chunks',
		problem: (state, ino) =>
			largestChunk(state, ino) !== null && !state.isFile(ino) ? 'has chunks but is no file' : null,
	},
	{
		name: 'chunk.within_size',
		what: 'the size of a file covers its chunks',
		problem(state, ino) {
			const inode = state.inodes.get(ino);
			const largest = largestChunk(state, ino);
			if (inode === undefined || largest === null || !state.isFile(ino)) return null;
			return largest * inode.chunkBytes < inode.size ? null : `has a chunk ${largest} behind its size of ${inode.size}`;
		},
	},
	{
		name: 'xattr.of_inode',
		what: 'extended attributes belong to an inode that exists',
		problem: ({ xattrs, inodes }, ino) =>
			xattrs.has(ino) && !inodes.has(ino) ? 'has attributes but does not exist' : null,
	},
];

function largestChunk({ chunks }: IntegrityState, ino: number): number | null {
	return chunks.get(ino)?.largest() ?? null;
}

/**
 * Walks up from a directory. A loop can only come with an entry that was added, so looking at touched directories finds it.
 * What another walk has passed since the last state is not walked again, and so a fault above is reported once.
 */
function climb({ parents, roots, climbed, inodes }: IntegrityState, start: number): string | null {
	const way = new Set<number>();
	let problem: string | null = null;
	for (let ino: number | undefined = start; ino !== undefined && !roots.has(ino) && !climbed.has(ino); ) {
		if (way.has(ino)) {
			problem = 'is in a loop of directories, or below one';
			break;
		}
		way.add(ino);
		const parent = parents.get(ino);
		// A directory that does not exist is reported by itself.
		if (parent === undefined && inodes.has(ino)) problem = `leads up to ${ino}, which has no name`;
		ino = parent;
	}
	for (const passed of way) climbed.add(passed);
	return problem;
}

/** Counts that come to 0 are taken out, so that `has` asks for any. */
function count(counts: Map<number, number>, key: number, difference: number): void {
	const sum = (counts.get(key) ?? 0) + difference;
	if (sum === 0) counts.delete(key);
	else counts.set(key, sum);
}
