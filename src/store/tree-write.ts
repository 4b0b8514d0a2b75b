import { type Inode, kindOfMode, sameTime } from '../base/inode.ts';
import { PosixError } from '../base/posix-error.ts';
import type { SqlValue } from './driver.ts';
import type { StagedContent } from './ingest.ts';
import { INODE_COLUMNS, type InodeRow, settableColumns } from './inode-row.ts';
import { fromSqlName, type SqlName, toEntryName, toSqlName } from './sql-name.ts';
import { TreeContent } from './tree-content.ts';
import type { TreeParts } from './tree-parts.ts';
import { presentRows, type TreeRows } from './tree-rows.ts';

/** Bytes of a full chunk of a new file. */
export const CHUNK_BYTES = 65_536;

/**
 * Changes of the present, one by one. Every statement sets `born` to the head, and none is run for what is equal already:
 * an update that changes nothing would make a version. All of it is called inside Store.write.
 */
export class TreeWrite {
	readonly rows: TreeRows;
	readonly content: TreeContent;
	readonly #parts: TreeParts;

	constructor(parts: TreeParts) {
		this.#parts = parts;
		this.rows = presentRows(parts.db);
		this.content = new TreeContent(parts, this.rows);
	}

	/**
	 * Lets a name stand for a new inode without content (a file reads as zeros); what it stood for is removed.
	 * `chunkBytes` is 65,536 or, for files written in scattered small pieces, a part of it. Throws ENOENT, ENOTDIR, EINVAL.
	 */
	put(parent: number, name: string, inode: Inode, chunkBytes = CHUNK_BYTES): number {
		const directory = this.directory(parent, 'create', name);
		const entryName = toEntryName(name);
		const ino = this.insertInode(this.#parts.head.takeIno(), directory[2], inode, 1, chunkBytes);
		this.#replaceEntry(parent, entryName, ino);
		return ino;
	}

	/** Removes a name, and with the last name of an inode the inode; a directory with all that it holds. Throws ENOENT. */
	remove(parent: number, name: string): void {
		const entryName = toEntryName(name);
		const ino = this.rows.entry(parent, entryName);
		if (ino === null) throw new PosixError('ENOENT', 'remove', name);
		this.deleteEntry(parent, entryName);
		if (ino !== 0) this.addLinks(ino, -1);
	}

	/** Lets a name be a whiteout; what it stood for is removed. Throws ENOENT, ENOTDIR, EINVAL. */
	whiteout(parent: number, name: string): void {
		this.directory(parent, 'whiteout', name);
		this.#replaceEntry(parent, toEntryName(name), 0);
	}

	/** Gives an inode a further name; what the name stood for is removed. Throws ENOENT, ENOTDIR, EINVAL, EPERM, EXDEV. */
	link(parent: number, name: string, ino: number): void {
		const directory = this.directory(parent, 'link', name);
		const row = this.row(ino, 'link', name);
		if (kindOfMode(row[3]) === 'directory') throw new PosixError('EPERM', 'link', name);
		if (row[2] !== directory[2]) throw new PosixError('EXDEV', 'link', name);
		const entryName = toEntryName(name);
		if (this.rows.entry(parent, entryName) === ino) return;
		this.addLinks(ino, 1);
		this.#replaceEntry(parent, entryName, ino);
	}

	/**
	 * Moves a name; what the new name stood for is removed. Two names of one inode stay as they are (rename(2)).
	 * Throws ENOENT, ENOTDIR, EXDEV, and EINVAL when a directory would move below itself.
	 */
	rename(parent: number, name: string, newParent: number, newName: string): void {
		const entryName = toEntryName(name);
		const ino = this.rows.entry(parent, entryName);
		if (ino === null || ino === 0) throw new PosixError('ENOENT', 'rename', name);
		const directory = this.directory(newParent, 'rename', newName);
		const newEntryName = toEntryName(newName);
		if (this.row(ino, 'rename', name)[2] !== directory[2]) throw new PosixError('EXDEV', 'rename', newName);
		if (this.rows.entry(newParent, newEntryName) === ino) return;
		if (this.#isBelow(newParent, ino)) throw new PosixError('EINVAL', 'rename', newName);
		this.deleteEntry(parent, entryName);
		this.#replaceEntry(newParent, newEntryName, ino);
	}

	/**
	 * Sets everything about an inode but its kind and its names; a file's content is cut or extended with zeros to the
	 * size. Says whether anything differed.
	 */
	setInode(ino: number, inode: Inode): boolean {
		const row = this.row(ino, 'setattr', null);
		if (kindOfMode(row[3]) !== inode.kind) throw new Error(`inode ${ino} cannot become a ${inode.kind}`);
		if (inode.kind === 'file' && inode.size !== row[7]) this.content.cut(ino, row[7], inode.size, row[17]);
		return this.updateInode(row, inode, row[4]);
	}

	/** Puts bytes into a file, which grows when they end past it; its times stay. Says whether anything differed. */
	writeContent(ino: number, offset: number, data: Buffer): boolean {
		const row = this.file(ino, 'write');
		const written = this.content.write(ino, offset, data, row[17]);
		const size = Math.max(row[7], data.length === 0 ? 0 : offset + data.length);
		if (size > row[7]) this.#setSize(row, size);
		if (written) this.#parts.head.countChange(0, 0);
		return written || size > row[7];
	}

	/** Cuts a file, or extends it with zeros; its times stay. Says whether anything differed. */
	truncate(ino: number, size: number): boolean {
		const row = this.file(ino, 'truncate');
		if (size === row[7]) return false;
		this.content.cut(ino, row[7], size, row[17]);
		this.#setSize(row, size);
		return true;
	}

	/** Puts staged content in the place of a file's, with its size; its times stay. Says whether anything differed. */
	setContent(ino: number, content: StagedContent): boolean {
		const row = this.file(ino, 'write');
		const replaced = this.replaceContent(row, content);
		if (content.size !== row[7]) this.#setSize(row, content.size);
		return replaced || content.size !== row[7];
	}

	/** The same without the size, which is written with the rest of the row. */
	replaceContent(row: InodeRow, content: StagedContent): boolean {
		if (row[17] !== CHUNK_BYTES) {
			this.content.clear(row[0]);
			this.#parts.db
				.prepare('update inode set chunk_bytes = ?, born = ? where ino = ?')
				.run(CHUNK_BYTES, this.#parts.head.born, row[0]);
		}
		return this.content.replace(row[0], content);
	}

	/** Inserts an inode's row and attributes. */
	insertInode(ino: number, root: number, inode: Inode, nlink: number, chunkBytes = CHUNK_BYTES): number {
		const { db, head } = this.#parts;
		const [mode, ...others] = settableColumns(inode) as [SqlValue, ...SqlValue[]];
		db.prepare(INSERT_INODE).run(ino, head.born, root, mode, nlink, ...others, chunkBytes);
		for (const [name, value] of inode.xattrs) this.#setXattr(ino, toSqlName(name), value);
		head.countChange(ino === root ? 0 : 1, inode.kind === 'file' ? inode.size : 0);
		return ino;
	}

	/** Writes what differs from an inode's row and attributes; says whether anything did. Content is the caller's work. */
	updateInode(row: InodeRow, inode: Inode, nlink: number): boolean {
		const ino = row[0];
		const xattrsChanged = this.#setXattrs(ino, inode.xattrs);
		if (nlink === row[4] && sameColumns(row, inode)) return xattrsChanged;
		const { db, head } = this.#parts;
		const [mode, ...others] = settableColumns(inode) as [SqlValue, ...SqlValue[]];
		db.prepare(UPDATE_INODE).run(head.born, mode, nlink, ...others, ino);
		head.countChange(0, inode.kind === 'file' ? inode.size - row[7] : 0);
		return true;
	}

	/** Writes the number of names of an inode; with none left it is removed, a directory with all that it holds. */
	addLinks(ino: number, by: number): void {
		const row = this.row(ino, 'link', null);
		const nlink = row[4] + by;
		if (nlink < 0) throw new Error(`inode ${ino} would have ${nlink} names`);
		if (nlink === 0) this.#dropInode(row);
		else this.#parts.db.prepare(SET_NLINK).run(nlink, this.#parts.head.born, ino);
		this.#parts.head.countChange(0, 0);
	}

	/** Lets a name stand for an inode or, as 0, a whiteout. The numbers of names are the caller's to keep. */
	setEntry(parent: number, name: SqlName, ino: number): void {
		this.#parts.db.prepare(UPSERT_ENTRY).run(parent, name, this.#parts.head.born, ino);
		this.#parts.head.countChange(0, 0);
	}

	/** Removes a name alone. The numbers of names are the caller's to keep. */
	deleteEntry(parent: number, name: SqlName): void {
		this.#parts.db.prepare('delete from entry where parent = ? and name = ?').run(parent, name);
		this.#parts.head.countChange(0, 0);
	}

	/** The row of an inode. Throws PosixError ENOENT. */
	row(ino: number, operation: string, path: string | null): InodeRow {
		const row = this.rows.inode(ino);
		if (row === null) throw new PosixError('ENOENT', operation, path);
		return row;
	}

	/** The row of a directory. Throws PosixError ENOENT, ENOTDIR. */
	directory(ino: number, operation: string, path: string): InodeRow {
		const row = this.row(ino, operation, path);
		if (kindOfMode(row[3]) !== 'directory') throw new PosixError('ENOTDIR', operation, path);
		return row;
	}

	/** The row of a regular file. Throws PosixError ENOENT, EISDIR, EINVAL. */
	file(ino: number, operation: string): InodeRow {
		const row = this.row(ino, operation, null);
		const kind = kindOfMode(row[3]);
		if (kind === 'directory') throw new PosixError('EISDIR', operation);
		if (kind !== 'file') throw new PosixError('EINVAL', operation);
		return row;
	}

	#setSize(row: InodeRow, size: number): void {
		const { db, head } = this.#parts;
		db.prepare('update inode set size = ?, born = ? where ino = ?').run(size, head.born, row[0]);
		head.countChange(0, size - row[7]);
	}

	#replaceEntry(parent: number, name: SqlName, ino: number): void {
		const old = this.rows.entry(parent, name);
		if (old === ino) return;
		this.setEntry(parent, name, ino);
		if (old !== null && old !== 0) this.addLinks(old, -1);
	}

	/** Walks with a list of its own: a tree may be deeper than the stack. */
	#dropInode(top: InodeRow): void {
		const pending = [top];
		for (let row = pending.pop(); row !== undefined; row = pending.pop()) {
			const ino = row[0];
			if (kindOfMode(row[3]) === 'directory') pending.push(...this.#emptyDirectory(ino));
			this.#deleteRows(row);
		}
	}

	/** Removes the names in a directory and gives the inodes that lost their last one. */
	#emptyDirectory(ino: number): InodeRow[] {
		const dead: InodeRow[] = [];
		const entries = this.rows.entries(ino);
		if (entries.length > 0) this.#parts.db.prepare('delete from entry where parent = ?').run(ino);
		for (const [name, child] of entries) {
			if (child === 0) continue;
			const row = this.row(child, 'remove', fromSqlName(name));
			if (row[4] === 1) dead.push(row);
			else this.addLinks(child, -1);
		}
		return dead;
	}

	#deleteRows(row: InodeRow): void {
		const { db, head } = this.#parts;
		const ino = row[0];
		const isFile = kindOfMode(row[3]) === 'file';
		if (isFile) this.content.clear(ino);
		db.prepare('delete from xattr where ino = ?').run(ino);
		db.prepare('delete from inode where ino = ?').run(ino);
		head.countChange(-1, isFile ? -row[7] : 0);
	}

	#setXattrs(ino: number, xattrs: Inode['xattrs']): boolean {
		let changed = false;
		const missing = new Map(xattrs);
		for (const [sqlName, value] of this.rows.xattrs(ino)) {
			const name = fromSqlName(sqlName);
			const wanted = missing.get(name);
			if (wanted?.equals(value) === true) missing.delete(name);
			if (wanted === undefined) {
				this.#parts.db.prepare('delete from xattr where ino = ? and name = ?').run(ino, sqlName);
				changed = true;
			}
		}
		for (const [name, value] of missing) this.#setXattr(ino, toSqlName(name), value);
		if (changed || missing.size > 0) this.#parts.head.countChange(0, 0);
		return changed || missing.size > 0;
	}

	#setXattr(ino: number, name: SqlName, value: Buffer): void {
		this.#parts.db.prepare(UPSERT_XATTR).run(ino, name, this.#parts.head.born, value);
	}

	#isBelow(directory: number, ancestor: number): boolean {
		for (let at: number | undefined = directory; at !== undefined; at = this.rows.names(at)[0]?.[0]) {
			if (at === ancestor) return true;
		}
		return false;
	}
}

const INSERT_INODE = `insert into inode(${INODE_COLUMNS}) values(${INODE_COLUMNS.split(', ')
	.map(() => '?')
	.join(', ')})`;
const UPDATE_INODE =
	'update inode set born = ?, mode = ?, nlink = ?, uid = ?, gid = ?, size = ?, rdev = ?, atime = ?, atime_ns = ?, ' +
	'mtime = ?, mtime_ns = ?, ctime = ?, ctime_ns = ?, target = ?, opaque = ? where ino = ?';
const SET_NLINK = 'update inode set nlink = ?, born = ? where ino = ?';
const UPSERT_ENTRY =
	'insert into entry(parent, name, born, ino) values(?, ?, ?, ?) ' +
	'on conflict do update set born = excluded.born, ino = excluded.ino';
const UPSERT_XATTR =
	'insert into xattr(ino, name, born, value) values(?, ?, ?, ?) ' +
	'on conflict do update set born = excluded.born, value = excluded.value';

function sameColumns(row: InodeRow, inode: Inode): boolean {
	return (
		(row[3] & 0o7777) === (inode.mode & 0o7777) &&
		row[5] === inode.uid &&
		row[6] === inode.gid &&
		row[7] === inode.size &&
		row[8] === inode.rdev &&
		sameTime({ sec: row[9], nsec: row[10] }, inode.atime) &&
		sameTime({ sec: row[11], nsec: row[12] }, inode.mtime) &&
		sameTime({ sec: row[13], nsec: row[14] }, inode.ctime) &&
		(row[15] === null ? null : fromSqlName(row[15])) === inode.target &&
		row[16] === (inode.opaque ? 1 : 0)
	);
}
