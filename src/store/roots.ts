import type { Inode } from '../base/inode.ts';
import { PosixError } from '../base/posix-error.ts';
import type { Database } from './driver.ts';
import { fromSqlName, type SqlName, toSqlName } from './sql-name.ts';
import type { TreeParts } from './tree-parts.ts';
import type { TreeWrite } from './tree-write.ts';

/** What a tree is laid over; `saved` holds what an apply overwrote. */
export type RootRole = 'project' | 'home' | 'gitdir' | 'saved';

/** One layer tree and the host directory beneath it. */
export interface Root {
	readonly ino: number;
	readonly role: RootRole;
	/** Absolute path of the host directory; null when there is none. */
	readonly basePath: string | null;
}

/** The trees of a session. Their list has no history: a root is made once and stays. */
export class Roots {
	readonly #parts: TreeParts;
	readonly #write: TreeWrite;

	constructor(parts: TreeParts, write: TreeWrite) {
		this.#parts = parts;
		this.#write = write;
	}

	/** All roots, in the order in which they were made. */
	list(): Root[] {
		return readRoots(this.#parts.db);
	}

	/** Makes a tree with nothing in it but its root directory. Throws EEXIST for a second of one role, `saved` aside. */
	add(role: RootRole, basePath: string | null, inode: Inode): Root {
		if (role !== 'saved' && this.list().some((root) => root.role === role))
			throw new PosixError('EEXIST', 'root', role);
		const { head } = this.#parts;
		const { changed, position } = head.values();
		const ino = head.takeIno();
		this.#write.insertInode(ino, ino, inode, 1);
		// an empty tree is nothing that a snapshot would be worth
		if (!changed) head.moveTo(position);
		this.#parts.db
			.prepare('insert into root(ino, role, base_path) values(?, ?, ?)')
			.run(ino, role, basePath === null ? null : toSqlName(basePath));
		return { ino, role, basePath };
	}

	/** Lays a tree over another host directory: the project was moved. */
	setBasePath(ino: number, basePath: string | null): void {
		const path = basePath === null ? null : toSqlName(basePath);
		this.#parts.db.prepare('update root set base_path = ? where ino = ?').run(path, ino);
	}
}

/** The roots of an open session file, for who wants to know nothing else of it. */
export function readRoots(db: Database): Root[] {
	return db
		.prepare<[number, RootRole, SqlName | null]>('select ino, role, base_path from root order by ino', 'tuple')
		.all()
		.map(([ino, role, path]) => ({ ino, role, basePath: path === null ? null : fromSqlName(path) }));
}
