import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Inode } from '../../src/base/inode.ts';
import { baseName, joinPath, parentPath } from '../../src/base/paths.ts';
import { Blobs } from '../../src/store/blobs.ts';
import { type Database, openDatabase } from '../../src/store/driver.ts';
import { Head } from '../../src/store/head.ts';
import { INODE_COLUMNS, settableColumns } from '../../src/store/inode-row.ts';
import { createSessionFile } from '../../src/store/session-file.ts';
import { Snapshots } from '../../src/store/snapshots.ts';
import { toSqlName } from '../../src/store/sql-name.ts';
import type { TreeParts } from '../../src/store/tree-parts.ts';
import { presentRows, rowsAt } from '../../src/store/tree-rows.ts';
import { TreeView } from '../../src/store/tree-view.ts';

/** What a test says of a node; the rest of its inode is filled in. */
export type LayerNode =
	| { readonly kind: 'file'; readonly content: string; readonly mode: number; readonly xattr?: string }
	| { readonly kind: 'directory'; readonly mode: number; readonly opaque?: boolean; readonly xattr?: string }
	| { readonly kind: 'symlink'; readonly target: string }
	| { readonly kind: 'whiteout' };

/**
 * A session file with one root, written with plain statements: the tests of gc, integrity and base-moved stand on it, so
 * that they don't share an error with Tree. Each method is one transaction of its own.
 */
export class LayerRig implements TreeParts, Disposable {
	readonly db: Database;
	readonly head: Head;
	readonly blobs: Blobs;
	readonly snapshots: Snapshots;
	readonly root: number;
	readonly #directory: string;
	#writing = false;

	constructor() {
		this.#directory = mkdtempSync(join(tmpdir(), 'dropcloth-rig-'));
		const path = join(this.#directory, 'session.db');
		createSessionFile(path, openDatabase, {}, () => {});
		this.db = openDatabase(path);
		this.head = new Head(this.db);
		this.blobs = new Blobs(this.db);
		this.snapshots = new Snapshots(this.db, this.head);
		this.root = this.write(() => {
			const ino = this.head.takeIno();
			this.#putInode(ino, ino, inodeOf({ kind: 'directory', mode: 0o755 }), 1);
			this.db.prepare('insert into root(ino, role, base_path) values(?, ?, ?)').run(ino, 'project', '/base');
			return ino;
		});
	}

	[Symbol.dispose](): void {
		this.db.close();
		rmSync(this.#directory, { recursive: true });
	}

	write<T>(action: () => T): T {
		if (this.#writing) return action();
		this.#writing = true;
		this.db.exec('begin immediate');
		this.head.begin();
		try {
			const result = action();
			this.head.save();
			this.db.exec('commit');
			return result;
		} finally {
			if (this.db.inTransaction) this.db.exec('rollback');
			this.head.end();
			this.#writing = false;
		}
	}

	read<T>(action: () => T): T {
		return action();
	}

	at(snapshot: number | 'now'): TreeView {
		return new TreeView(snapshot === 'now' ? presentRows(this.db) : rowsAt(this.db, snapshot), this.blobs);
	}

	/** Every path of the layer with all that its reader sees, as text. */
	dump(snapshot: number | 'now'): Map<string, string> {
		const view = this.at(snapshot);
		const paths = [...view.walk(this.root)];
		return new Map(paths.map(({ path, ino }) => [path, ino === 0 ? 'whiteout' : describe(view, ino)]));
	}

	/** Puts a node where there is none, or in place of one of any kind. The parent must be a directory of the layer. */
	put(path: string, node: LayerNode): void {
		this.write(() => {
			const known = this.at('now').resolve(this.root, path);
			if (known !== null && known !== 0) {
				const kind = this.at('now').inode(known).kind;
				if (kind === node.kind && node.kind !== 'whiteout') return this.#rewrite(known, node);
			}
			this.remove(path);
			const ino = node.kind === 'whiteout' ? 0 : this.head.takeIno();
			if (node.kind !== 'whiteout') {
				this.#putInode(ino, this.root, inodeOf(node), 1);
				this.#putContent(ino, node);
				this.head.countChange(1, node.kind === 'file' ? Buffer.byteLength(node.content) : 0);
			}
			this.#putEntry(path, ino);
		});
	}

	/** Takes a path, and what is in it, out of the layer. */
	remove(path: string): void {
		this.write(() => {
			const view = this.at('now');
			const ino = view.resolve(this.root, path);
			if (ino === null) return;
			const inside = ino === 0 ? [] : view.children(ino);
			for (const [name] of inside) this.remove(joinPath(path, name));
			this.db.prepare('delete from entry where parent=? and name=?').run(this.#parent(path), toSqlName(baseName(path)));
			if (ino !== 0) this.#unlink(ino);
		});
	}

	/** A second name of a file. */
	link(path: string, newPath: string): void {
		this.write(() => {
			const ino = this.at('now').resolve(this.root, path);
			if (ino === null || ino === 0) throw new Error(`nothing at ${path}`);
			this.remove(newPath);
			this.#setLinks(ino, this.at('now').names(ino).length + 1);
			this.#putEntry(newPath, ino);
		});
	}

	/** Moves a node to a name that is free. */
	rename(path: string, newPath: string): void {
		this.write(() => {
			const ino = this.at('now').resolve(this.root, path) as number;
			this.db.prepare('delete from entry where parent=? and name=?').run(this.#parent(path), toSqlName(baseName(path)));
			this.#putEntry(newPath, ino);
		});
	}

	snapshot(tag: string | null = null, parent?: number): number {
		return this.write(() => {
			const { head, position, files, bytes } = this.head.values();
			const created = { sec: 1_700_000_000 + head, nsec: 0 };
			const from = parent ?? (position === 0 ? null : position);
			this.snapshots.insert(head, from, { trigger: 'manual', created, tag }, { files, bytes });
			this.head.advance();
			this.head.moveTo(head);
			return head;
		});
	}

	/** Ids of the snapshots there are. */
	ids(): number[] {
		return this.snapshots.list().map(({ id }) => id);
	}

	/** The answer of a query with one number. */
	number(sql: string): number {
		return this.db.prepare<number>(sql, 'value').get() ?? 0;
	}

	#rewrite(ino: number, node: LayerNode): void {
		const links = this.at('now').names(ino).length;
		const before = this.at('now').inode(ino);
		const inode = inodeOf(node);
		this.#putInode(ino, this.root, inode, links);
		this.#putContent(ino, node);
		this.head.countChange(0, node.kind === 'file' ? inode.size - before.size : 0);
	}

	#putInode(ino: number, root: number, inode: Inode, nlink: number): void {
		const [mode, ...rest] = settableColumns(inode);
		const names = INODE_COLUMNS.split(', ').slice(1);
		this.db
			.prepare(
				`insert into inode(${INODE_COLUMNS}) values(${INODE_COLUMNS.replace(/\w+/g, '?')})` +
					` on conflict do update set ${names.map((name) => `${name}=excluded.${name}`).join(', ')}`,
			)
			.run(ino, this.head.born, root, mode ?? 0, nlink, ...rest, CHUNK_BYTES);
	}

	#putContent(ino: number, node: LayerNode): void {
		const xattr = 'xattr' in node ? node.xattr : undefined;
		this.db.prepare("delete from xattr where ino=? and name='user.k' and value is not ?").run(ino, xattr ?? null);
		if (xattr !== undefined) {
			this.db
				.prepare('insert into xattr(ino, name, born, value) values(?, ?, ?, ?) on conflict do nothing')
				.run(ino, 'user.k', this.head.born, Buffer.from(xattr));
		}
		if (node.kind !== 'file') return;
		const data = Buffer.from(node.content);
		const count = Math.ceil(data.length / CHUNK_BYTES);
		this.db.prepare('delete from chunk where ino=? and idx>=?').run(ino, count);
		for (let idx = 0; idx < count; idx++) {
			const blob = this.blobs.put(data.subarray(idx * CHUNK_BYTES, (idx + 1) * CHUNK_BYTES));
			this.db
				.prepare(
					'insert into chunk(ino, idx, born, blob) values(?, ?, ?, ?)' +
						' on conflict do update set blob=excluded.blob, born=excluded.born where blob<>excluded.blob',
				)
				.run(ino, idx, this.head.born, blob);
		}
	}

	#putEntry(path: string, ino: number): void {
		this.db
			.prepare(
				'insert into entry(parent, name, born, ino) values(?, ?, ?, ?)' +
					' on conflict do update set ino=excluded.ino, born=excluded.born',
			)
			.run(this.#parent(path), toSqlName(baseName(path)), this.head.born, ino);
	}

	#parent(path: string): number {
		const ino = this.at('now').resolve(this.root, parentPath(path));
		if (ino === null || ino === 0) throw new Error(`no directory for ${path}`);
		return ino;
	}

	#unlink(ino: number): void {
		const view = this.at('now');
		const left = view.names(ino).length;
		if (left > 0) {
			this.#setLinks(ino, left);
			return;
		}
		const { kind, size } = view.inode(ino);
		for (const table of ['chunk', 'xattr', 'inode']) this.db.prepare(`delete from ${table} where ino=?`).run(ino);
		this.head.countChange(-1, kind === 'file' ? -size : 0);
	}

	#setLinks(ino: number, nlink: number): void {
		this.db.prepare('update inode set nlink=?, born=? where ino=?').run(nlink, this.head.born, ino);
	}
}

/** Small, so that short contents have several chunks. */
const CHUNK_BYTES = 4;

/** A whole inode from what the test says of it. */
export function inodeOf(node: LayerNode): Inode {
	if (node.kind === 'whiteout') throw new Error('a whiteout has no inode');
	const mode = node.kind === 'symlink' ? 0o777 : node.mode;
	const time = { sec: 1_600_000_000 + mode, nsec: 5 };
	const target = node.kind === 'symlink' ? node.target : null;
	return {
		kind: node.kind,
		mode,
		uid: 1000,
		gid: 1000,
		size: node.kind === 'file' ? Buffer.byteLength(node.content) : (target?.length ?? 0),
		rdev: 0,
		atime: time,
		mtime: time,
		ctime: time,
		target,
		opaque: node.kind === 'directory' && node.opaque === true,
		xattrs: new Map('xattr' in node && node.xattr !== undefined ? [['user.k', Buffer.from(node.xattr)]] : []),
	};
}

function describe(view: TreeView, ino: number): string {
	const { nlink, ...inode } = view.inode(ino);
	const pieces = inode.kind === 'file' ? [...view.content(ino).pieces()] : [];
	const content = Buffer.concat(pieces.map(({ data }) => data)).toString();
	return JSON.stringify({ ...inode, xattrs: [...inode.xattrs], content, ino, nlink });
}
