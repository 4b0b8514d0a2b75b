import type { Database, SqlValue } from './driver.ts';

const ROWS_AT_ONCE = 5000;

/**
 * The rows of a query by their first column, an ascending number, read a page at a time from a temporary table: sorting
 * takes no memory of ours. Usable on a connection that may only read the file.
 */
export class RowStream<Row extends readonly [at: number, ...SqlValue[]]> {
	readonly #db: Database;
	readonly #table: string;
	#page: Row[] = [];
	#next = 0;
	#taken = 0;

	/** `name` is the temporary table's. */
	constructor(db: Database, name: string, query: string) {
		this.#db = db;
		this.#table = `temp.${name}`;
		db.exec(`drop table if exists ${this.#table}; create temp table ${name} as ${query} order by 1`);
	}

	/** Where the next row stands; null at the end. */
	at(): number | null {
		if (this.#next === this.#page.length) this.#readPage();
		return this.#page[this.#next]?.[0] ?? null;
	}

	/** The rows that stand at `at` or before. */
	*upTo(at: number): Generator<Row> {
		for (let next = this.at(); next !== null && next <= at; next = this.at()) yield this.#page[this.#next++] as Row;
	}

	/** Drops the temporary table. */
	close(): void {
		this.#db.exec(`drop table ${this.#table}`);
	}

	#readPage(): void {
		const sql = `select * from ${this.#table} where rowid>? and rowid<=?`;
		this.#page = this.#db.prepare<Row>(sql, 'tuple').all(this.#taken, this.#taken + ROWS_AT_ONCE);
		this.#taken += this.#page.length;
		this.#next = 0;
	}
}
