import type { Database } from './driver.ts';
import { sha256 } from './sha256.ts';

/**
 * Content by number. A sealed blob is known by its SHA-256, is stored once whoever names it, and never changes. An open one
 * belongs to one chunk, which may overwrite it in place; see seal.ts. All writing is done inside Store.write.
 */
export class Blobs {
	readonly #db: Database;
	/** Blobs that a thinning is about to remove. */
	readonly #doomed = new Set<number>();

	constructor(db: Database) {
		this.#db = db;
	}

	/** The bytes of a blob. Throws when it is missing: somebody names it, so the store is damaged. */
	read(id: number): Buffer {
		const data = this.#db.prepare<Buffer>('select data from blob where id = ?', 'value').get(id);
		if (data === undefined) throw new Error(`blob ${id} is missing from ${this.#db.path}`);
		return data;
	}

	/** How many bytes a blob has. */
	size(id: number): number {
		const size = this.#db.prepare<number>('select size from blob where id = ?', 'value').get(id);
		if (size === undefined) throw new Error(`blob ${id} is missing from ${this.#db.path}`);
		return size;
	}

	/** The SHA-256 of a sealed blob, or null while it is open. */
	hash(id: number): Buffer | null {
		return this.#db.prepare<Buffer>('select hash from seal where blob = ?', 'value').get(id) ?? null;
	}

	/** The sealed blob with this SHA-256, or null. */
	find(hash: Buffer): number | null {
		return this.#db.prepare<number>('select blob from seal where hash = ?', 'value').get(hash) ?? null;
	}

	/** The sealed blob with these bytes, made when there is none. */
	put(data: Uint8Array, hash: Buffer = sha256(data)): number {
		const found = this.find(hash);
		if (found !== null) {
			this.spare(found);
			return found;
		}
		const id = this.#insert(data);
		this.seal(id, hash);
		return id;
	}

	/** Declares a blob finished: its bytes have this SHA-256, and no other sealed blob has. */
	seal(id: number, hash: Buffer): void {
		this.#db.prepare('insert into seal(hash, blob) values(?, ?)').run(hash, id);
	}

	/** A new blob that chunk `idx` of file `ino` alone may overwrite until the next snapshot. */
	open(data: Uint8Array, ino: number, idx: number, born: number): number {
		const id = this.#insert(data);
		this.#db.prepare('insert into open(blob, ino, idx, born) values(?, ?, ?, ?)').run(id, ino, idx, born);
		return id;
	}

	/** Whether a blob is not sealed yet. */
	isOpen(id: number): boolean {
		return this.#db.prepare<number>('select 1 from open where blob = ?', 'value').get(id) === 1;
	}

	/** Whether a blob is private to this chunk and belongs to no snapshot: then it may be overwritten in place. */
	isPrivate(id: number, ino: number, idx: number, born: number): boolean {
		return (
			this.#db
				.prepare<number>('select 1 from open where blob = ? and ino = ? and idx = ? and born = ?', 'value')
				.get(id, ino, idx, born) === 1
		);
	}

	/** Puts other bytes into a private blob; of the same length, so that only changed pages are written. */
	overwrite(id: number, data: Uint8Array): void {
		this.#db.prepare('update blob set size = ?, data = ? where id = ?').run(data.length, data, id);
	}

	/** Takes a blob from the open ones. */
	close(id: number): void {
		this.#db.prepare('delete from open where blob = ?').run(id);
	}

	/** Removes an open blob that nothing names any more. */
	drop(id: number): void {
		this.close(id);
		this.#db.prepare('delete from blob where id = ?').run(id);
	}

	/** Notes that nothing seems to name these any more. Whoever names one anew has it from {@link put} or {@link spare}. */
	doom(ids: Iterable<number>): void {
		for (const id of ids) this.#doomed.add(id);
	}

	/** Notes that a blob is named after all. */
	spare(id: number): void {
		this.#doomed.delete(id);
	}

	/** The blobs that were doomed and not spared since. */
	get doomed(): ReadonlySet<number> {
		return this.#doomed;
	}

	/** Removes a doomed blob that nothing names, sealed or open; how many bytes it had. Nothing is done to a spared one. */
	removeDoomed(id: number): number {
		if (!this.#doomed.delete(id)) return 0;
		const size = this.#db.prepare<number>('select size from blob where id = ?', 'value').get(id) ?? 0;
		this.#db.prepare('delete from seal where blob = ?').run(id);
		this.drop(id);
		return size;
	}

	#insert(data: Uint8Array): number {
		return Number(this.#db.prepare('insert into blob(size, data) values(?, ?)').run(data.length, data).lastInsertRowid);
	}
}
