import { createHash } from 'node:crypto';
import { type Content, PIECE_BYTES } from '../base/change.ts';
import type { Inode, Kind, Time } from '../base/inode.ts';
import type { Statement } from './driver.ts';
import { fromSqlName, type SqlName, toSqlName } from './sql-name.ts';
import type { TreeParts } from './tree-parts.ts';

/** Bytes of a base file up to which its content is kept, so that a later merge has all three sides. */
export const ORIGIN_CONTENT_BYTES = 1_048_576;

/** What the base held at a path when the session first changed it: the base of every drift check and three-way merge. */
export interface Origin {
	/** Below the root. */
	readonly path: string;
	/** `absent` when the base held nothing there. */
	readonly kind: Exclude<Kind, 'whiteout'> | 'absent';
	/** The twelve permission bits. */
	readonly mode: number;
	readonly size: number;
	readonly mtime: Time;
	readonly ctime: Time;
	/** Where a symlink pointed; else null. */
	readonly target: string | null;
	/** SHA-256 of a file's whole content; null when it was not read. */
	readonly hash: Buffer | null;
	/** The blob that holds the content; null when it was not read or is over {@link ORIGIN_CONTENT_BYTES}. */
	readonly blob: number | null;
	/** False: the host may have changed it before it was recorded, so that it counts as drifted. */
	readonly trusted: boolean;
}

/** An origin that is not stored yet: its content is at hand instead of a blob. */
export interface FoundOrigin extends Omit<Origin, 'blob'> {
	readonly data: Buffer | null;
}

/**
 * Describes what the base holds now. Reads a file's content when it is given: hashed in pieces, kept up to
 * {@link ORIGIN_CONTENT_BYTES}. `inode` null: nothing is there. Throws PosixError when the content cannot be read.
 */
export function findOrigin(path: string, inode: Inode | null, content: Content | null, trusted: boolean): FoundOrigin {
	if (inode === null || inode.kind === 'whiteout') return { ...ABSENT, path, trusted };
	const { kind, mode, size, mtime, ctime, target } = inode;
	const read = kind === 'file' && content !== null ? readWhole(content) : { hash: null, data: null };
	return { path, kind, mode, size, mtime, ctime, target, ...read, trusted };
}

/** The rows of `origin`. Written by the owner only; writing joins the transaction that is open. */
export class Origins {
	readonly #store: Pick<TreeParts, 'db' | 'write' | 'blobs'>;
	readonly #insert: Statement;
	readonly #get: Statement<OriginRow>;

	constructor(store: Pick<TreeParts, 'db' | 'write' | 'blobs'>) {
		this.#store = store;
		this.#insert = store.db.prepare(
			`insert into origin(${COLUMNS}) values(${COLUMNS.replace(/\w+/g, '?')}) on conflict do nothing`,
		);
		this.#get = store.db.prepare<OriginRow>('select * from origin where root=? and path=?');
	}

	/** Whether a path has an origin: then there is no need to read the base for {@link firstTouch}. */
	has(root: number, path: string): boolean {
		return this.#get.get(root, toSqlName(path)) !== undefined;
	}

	/** Records what the base held unless the path has an origin already; whether it did. */
	firstTouch(root: number, origin: FoundOrigin): boolean {
		return this.#store.write(() => {
			if (this.has(root, origin.path)) return false;
			const { path, kind, mode, size, mtime, ctime, target, hash, data, trusted } = origin;
			const blob = data === null || hash === null ? null : this.#store.blobs.put(data, hash);
			const place = [root, toSqlName(path), kind, mode, size, mtime.sec, mtime.nsec, ctime.sec, ctime.nsec];
			this.#insert.run(...place, target === null ? null : toSqlName(target), hash, blob, trusted ? 1 : 0);
			return true;
		});
	}

	/** The origin of a path, or null when the session never changed it. */
	get(root: number, path: string): Origin | null {
		const row = this.#get.get(root, toSqlName(path));
		return row === undefined ? null : originOfRow(row);
	}

	/** Every origin of a root, by path. */
	list(root: number): Origin[] {
		return this.#store.db
			.prepare<OriginRow>('select * from origin where root=? order by path')
			.all(root)
			.map(originOfRow);
	}

	/** The content that was kept of it, or null. */
	content(origin: Origin): Buffer | null {
		return origin.blob === null ? null : this.#store.blobs.read(origin.blob);
	}

	/** Drops origins, so that the next touch records the base anew: after an apply the base is what was written. */
	forget(root: number, paths: Iterable<string>): void {
		this.#store.write(() => {
			const drop = this.#store.db.prepare('delete from origin where root=? and path=?');
			for (const path of paths) drop.run(root, toSqlName(path));
		});
	}
}

const COLUMNS = 'root, path, kind, mode, size, mtime, mtime_ns, ctime, ctime_ns, target, hash, blob, trusted';
const EPOCH: Time = { sec: 0, nsec: 0 };
const ABSENT = {
	kind: 'absent',
	mode: 0,
	size: 0,
	mtime: EPOCH,
	ctime: EPOCH,
	target: null,
	hash: null,
	data: null,
} as const;

const HOLE = Buffer.alloc(PIECE_BYTES);

/** Holes count as the zeros that a reader sees. */
function readWhole(content: Content): { hash: Buffer; data: Buffer | null } {
	const hash = createHash('sha256');
	const data = content.size <= ORIGIN_CONTENT_BYTES ? Buffer.alloc(content.size) : null;
	let at = 0;
	const fillTo = (end: number) => {
		for (; at < end; at += Math.min(PIECE_BYTES, end - at)) hash.update(HOLE.subarray(0, end - at));
	};
	for (const piece of content.pieces()) {
		fillTo(piece.offset);
		hash.update(piece.data);
		data?.set(piece.data, piece.offset);
		at = piece.offset + piece.data.length;
	}
	fillTo(content.size);
	return { hash: hash.digest(), data };
}

interface OriginRow {
	readonly path: SqlName;
	readonly kind: Origin['kind'];
	readonly mode: number;
	readonly size: number;
	readonly mtime: number;
	readonly mtime_ns: number;
	readonly ctime: number;
	readonly ctime_ns: number;
	readonly target: SqlName | null;
	readonly hash: Buffer | null;
	readonly blob: number | null;
	readonly trusted: number;
}

function originOfRow(row: OriginRow): Origin {
	return {
		path: fromSqlName(row.path),
		kind: row.kind,
		mode: row.mode,
		size: row.size,
		mtime: { sec: row.mtime, nsec: row.mtime_ns },
		ctime: { sec: row.ctime, nsec: row.ctime_ns },
		target: row.target === null ? null : fromSqlName(row.target),
		hash: row.hash,
		blob: row.blob,
		trusted: row.trusted === 1,
	};
}
