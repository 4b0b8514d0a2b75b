import { joinPath } from '../base/paths.ts';
import type { Blobs } from './blobs.ts';
import { fromInodeRow, type TreeInode } from './inode-row.ts';
import { fromSqlName, toSqlName } from './sql-name.ts';
import { StoredContent } from './stored-content.ts';
import type { TreeRows } from './tree-rows.ts';

/** One name of an inode. */
export interface EntryName {
	readonly parent: number;
	readonly name: string;
}

/** One path of a tree; `ino` 0 is a whiteout. */
export interface WalkedPath {
	readonly path: string;
	readonly ino: number;
}

const NO_XATTRS: TreeInode['xattrs'] = new Map();

/**
 * One state of the layer trees, read only: at a snapshot, or the present. Inode number 0 stands for a whiteout, null for a
 * name that the layer does not have, so that the base shows through. Nothing is cached: the present moves with each write.
 */
export class TreeView {
	readonly #rows: TreeRows;
	readonly #blobs: Blobs;

	constructor(rows: TreeRows, blobs: Blobs) {
		this.#rows = rows;
		this.#blobs = blobs;
	}

	/** What a name in a directory stands for. */
	lookup(parent: number, name: string): number | null {
		return this.#rows.entry(parent, toSqlName(name));
	}

	/** What a path below a root stands for; '' is the root itself. Null also when a part of the way is not there. */
	resolve(root: number, path: string): number | null {
		let ino: number | null = root;
		if (path === '') return this.has(root) ? root : null;
		for (const name of path.split('/')) {
			if (ino === null || ino === 0) return null;
			ino = this.lookup(ino, name);
		}
		return ino;
	}

	/** Whether the inode exists in this state. */
	has(ino: number): boolean {
		return this.#rows.inode(ino) !== null;
	}

	/** Everything about an inode but its names and content. Throws when this state has no such inode. */
	inode(ino: number): TreeInode {
		const found = this.find(ino);
		if (found === null) throw new Error(`no inode ${ino} in this state of the tree`);
		return found;
	}

	/** The same, or null. */
	find(ino: number): TreeInode | null {
		const row = this.#rows.inode(ino);
		return row === null ? null : fromInodeRow(row, this.#xattrs(ino));
	}

	/** Names in a directory and what they stand for, whiteouts included, sorted by their bytes' kind, then bytes. */
	children(ino: number): [name: string, ino: number][] {
		return this.#rows.entries(ino).map(([name, child]) => [fromSqlName(name), child]);
	}

	/** The bytes of a file. They are read when asked for, and stay readable while the snapshot exists. */
	content(ino: number): StoredContent {
		const row = this.#rows.inode(ino);
		if (row === null) throw new Error(`no inode ${ino} in this state of the tree`);
		return new StoredContent(this.#blobs, this.#rows.chunks(ino), row[7], row[17]);
	}

	/** The names of an inode; none for a root. */
	names(ino: number): EntryName[] {
		return this.#rows.names(ino).map(([parent, name]) => ({ parent, name: fromSqlName(name) }));
	}

	/** Every path of a tree, parents before children; the root first, as ''. */
	*walk(root: number): Iterable<WalkedPath> {
		if (!this.has(root)) return;
		yield { path: '', ino: root };
		yield* this.#walkBelow(root, '');
	}

	*#walkBelow(directory: number, path: string): Iterable<WalkedPath> {
		const pending: WalkedPath[] = [{ path, ino: directory }];
		for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
			for (const [name, ino] of this.children(next.ino)) {
				const child = { path: joinPath(next.path, name), ino };
				yield child;
				if (ino !== 0) pending.push(child);
			}
		}
	}

	#xattrs(ino: number): TreeInode['xattrs'] {
		const rows = this.#rows.xattrs(ino);
		return rows.length === 0 ? NO_XATTRS : new Map(rows.map(([name, value]) => [fromSqlName(name), value]));
	}
}
