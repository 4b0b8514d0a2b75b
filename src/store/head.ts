import type { Database } from './driver.ts';

/** Where history stands. */
export interface HeadValues {
	/** The number of the next snapshot: `born` of every row that is written now. */
	readonly head: number;
	readonly nextIno: number;
	/** The snapshot that the present grew from; 0 before the first. */
	readonly position: number;
	/** Whether the present differs from the position. */
	readonly changed: boolean;
	/** Inodes of the present, roots aside. */
	readonly files: number;
	/** Sizes of its regular files, added up. */
	readonly bytes: number;
}

/**
 * The one-row head table. Inside Store.write its values are read once, changed in memory and written back by the commit;
 * outside they are read anew each time.
 */
export class Head {
	readonly #db: Database;
	#row: { -readonly [Key in keyof HeadValues]: HeadValues[Key] } | null = null;
	#dirty = false;

	constructor(db: Database) {
		this.#db = db;
	}

	/** The values now. */
	values(): HeadValues {
		return this.#row ?? this.#read();
	}

	/** `born` of what is written now. Throws outside Store.write: the tree is written nowhere else. */
	get born(): number {
		return this.#writable().head;
	}

	/** A new inode number. */
	takeIno(): number {
		this.#dirty = true;
		return this.#writable().nextIno++;
	}

	/** Notes that the tree was changed, and by how many inodes and bytes it grew. */
	countChange(files: number, bytes: number): void {
		const row = this.#writable();
		row.files += files;
		row.bytes += bytes;
		row.changed = true;
		this.#dirty = true;
	}

	/** Puts new totals in place of the counted ones. */
	setTotals(files: number, bytes: number): void {
		Object.assign(this.#writable(), { files, bytes });
		this.#dirty = true;
	}

	/**
	 * Makes the next snapshot's number this one's successor: what was born until now belongs to a snapshot. Written at once:
	 * the triggers that keep history read the table, and the same transaction may go on to change the tree.
	 */
	advance(): number {
		const id = this.#writable().head++;
		this.#dirty = true;
		this.save();
		return id;
	}

	/** Declares the present equal to a snapshot. */
	moveTo(position: number): void {
		Object.assign(this.#writable(), { position, changed: false });
		this.#dirty = true;
	}

	/** Lets numbers of new inodes start at least here, so that a branch never collides with its parent. */
	reserveInos(from: number): void {
		const row = this.#writable();
		row.nextIno = Math.max(row.nextIno, from);
		this.#dirty = true;
	}

	/** Reads the values for a transaction that has just begun. Called by Store alone. */
	begin(): void {
		this.#row = this.#read();
		this.#dirty = false;
	}

	/** Writes back what changed, before the commit. Called by Store alone. */
	save(): void {
		if (!this.#dirty || this.#row === null) return;
		const { head, nextIno, position, changed, files, bytes } = this.#row;
		this.#db
			.prepare('update head set head = ?, next_ino = ?, position = ?, changed = ?, files = ?, bytes = ?')
			.run(head, nextIno, position, changed ? 1 : 0, files, bytes);
	}

	/** Forgets the transaction's values. Called by Store alone. */
	end(): void {
		this.#row = null;
	}

	#writable(): { -readonly [Key in keyof HeadValues]: HeadValues[Key] } {
		if (this.#row === null) throw new Error('the tree is written inside Store.write only');
		return this.#row;
	}

	#read(): HeadValues {
		const row = this.#db
			.prepare<number[]>('select head, next_ino, position, changed, files, bytes from head', 'tuple')
			.get();
		if (row === undefined) throw new Error(`no row in the head table of ${this.#db.path}`);
		const [head, nextIno, position, changed, files, bytes] = row as [number, number, number, number, number, number];
		return { head, nextIno, position, changed: changed === 1, files, bytes };
	}
}
