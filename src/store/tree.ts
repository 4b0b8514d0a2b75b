import type { Change } from '../base/change.ts';
import type { Inode } from '../base/inode.ts';
import { ingest, type Staged, type StagedContent } from './ingest.ts';
import { type Root, type RootRole, Roots } from './roots.ts';
import { sealOpenBlobs } from './seal.ts';
import { noSuchSnapshot, type SnapshotMeta } from './snapshots.ts';
import { type AppliedCount, applyChanges } from './tree-apply.ts';
import { compareStates } from './tree-changes.ts';
import type { TreeParts } from './tree-parts.ts';
import { type RestoredCount, restoreTree } from './tree-restore.ts';
import { rowsAt, type TreeRef } from './tree-rows.ts';
import { TreeView } from './tree-view.ts';
import { TreeWrite } from './tree-write.ts';

/**
 * The layer trees of a session and all their history. Whatever changes them is called inside Store.write, where history
 * cannot be lost; `stage` and `seal` make short transactions of their own.
 */
export class Tree {
	readonly #parts: TreeParts;
	readonly #write: TreeWrite;
	readonly #roots: Roots;
	readonly #present: TreeView;

	constructor(parts: TreeParts) {
		this.#parts = parts;
		this.#write = new TreeWrite(parts);
		this.#roots = new Roots(parts, this.#write);
		this.#present = new TreeView(this.#write.rows, parts.blobs);
	}

	/** All roots, in the order in which they were made. */
	roots(): Root[] {
		return this.#roots.list();
	}

	/** The first root of a role, or null. */
	root(role: RootRole): Root | null {
		return this.roots().find((root) => root.role === role) ?? null;
	}

	/** Makes a tree with nothing in it but its root directory. Throws PosixError EEXIST for a second of one role. */
	addRoot(role: RootRole, basePath: string | null, inode: Inode = EMPTY_DIRECTORY): Root {
		return this.#roots.add(role, basePath, inode);
	}

	/** Lays a tree over another host directory. */
	setBasePath(ino: number, basePath: string | null): void {
		this.#roots.setBasePath(ino, basePath);
	}

	/** A state, to read. Throws Refusal `failed` when there is no such snapshot. */
	at(ref: TreeRef): TreeView {
		if (ref === 'now') return this.#present;
		this.#checkSnapshot(ref);
		return new TreeView(rowsAt(this.#parts.db, ref), this.#parts.blobs);
	}

	/** See TreeWrite.put. */
	put(parent: number, name: string, inode: Inode, chunkBytes?: number): number {
		return this.#write.put(parent, name, inode, chunkBytes);
	}

	/** See TreeWrite.setInode. */
	setInode(ino: number, inode: Inode): boolean {
		return this.#write.setInode(ino, inode);
	}

	/** See TreeWrite.setContent. */
	setContent(ino: number, content: StagedContent): boolean {
		return this.#write.setContent(ino, content);
	}

	/** See TreeWrite.writeContent. */
	write(ino: number, offset: number, data: Buffer): boolean {
		return this.#write.writeContent(ino, offset, data);
	}

	/** See TreeWrite.truncate. */
	truncate(ino: number, size: number): boolean {
		return this.#write.truncate(ino, size);
	}

	/** See TreeWrite.remove. */
	remove(parent: number, name: string): void {
		this.#write.remove(parent, name);
	}

	/** See TreeWrite.whiteout. */
	whiteout(parent: number, name: string): void {
		this.#write.whiteout(parent, name);
	}

	/** See TreeWrite.link. */
	link(parent: number, name: string, ino: number): void {
		this.#write.link(parent, name, ino);
	}

	/** See TreeWrite.rename. */
	rename(parent: number, name: string, newParent: number, newName: string): void {
		this.#write.rename(parent, name, newParent, newName);
	}

	/** Reads the content of changes into the store before the tree names it; see ingest.ts. */
	stage(changes: Iterable<Change>): Staged {
		return ingest(this.#parts, changes);
	}

	/** Brings a tree from one state to the next; see tree-apply.ts. Content that is not staged is staged here. */
	apply(root: number, changes: readonly Change[], staged: Staged = this.stage(changes)): AppliedCount {
		return applyChanges(this.#parts, this.#write, root, changes, staged);
	}

	/** The same in a tree that no reader of the session sees: what an apply saved is no change of the present. */
	applyAside(root: number, changes: readonly Change[], staged: Staged): void {
		const { head } = this.#parts;
		const { files, bytes, changed, position } = head.values();
		this.apply(root, changes, staged);
		head.setTotals(files, bytes);
		if (!changed) head.moveTo(position);
	}

	/** Makes the present a snapshot and gives its number. Costs one row, whatever the size of the tree. */
	snapshot(meta: SnapshotMeta): number {
		const { head, snapshots } = this.#parts;
		const { position, files, bytes } = head.values();
		const id = head.advance();
		snapshots.insert(id, position === 0 ? null : position, meta, { files, bytes });
		head.moveTo(id);
		return id;
	}

	/**
	 * What must change to get from state `a` to state `b` of one tree; see tree-changes.ts.
	 * Throws Refusal `failed` when there is no such snapshot.
	 */
	changes(a: TreeRef, b: TreeRef, root: number): Change[] {
		for (const ref of [a, b]) if (ref !== 'now') this.#checkSnapshot(ref);
		return compareStates(this.#parts, a, b, root);
	}

	/**
	 * Makes the present equal to a snapshot and moves the position there. The caller has taken a snapshot of the present
	 * if it changed: what belongs to no snapshot is lost. Trees of other roots stay as they are.
	 * Throws Refusal `failed` when there is no such snapshot.
	 */
	restore(target: number, roots: readonly number[]): RestoredCount {
		if (this.#parts.snapshots.get(target) === null) throw noSuchSnapshot(target);
		return restoreTree(this.#parts, target, roots);
	}

	/** Seals blobs that belong to a snapshot; see seal.ts. Says how many. */
	seal(budgetMs?: number): number {
		return sealOpenBlobs(this.#parts, budgetMs);
	}

	#checkSnapshot(ref: number): void {
		if (ref !== 0 && this.#parts.snapshots.get(ref) === null) throw noSuchSnapshot(ref);
	}
}

const EMPTY_DIRECTORY: Inode = {
	kind: 'directory',
	mode: 0o755,
	uid: 0,
	gid: 0,
	size: 0,
	rdev: 0,
	atime: { sec: 0, nsec: 0 },
	mtime: { sec: 0, nsec: 0 },
	ctime: { sec: 0, nsec: 0 },
	target: null,
	opaque: false,
	xattrs: new Map(),
};
