import type { Database, RowShape, SqlValue } from './driver.ts';
import { type PastKey, pastKeyColumns, removePastRow } from './past-rows.ts';
import { VERSIONED_TABLES, type VersionedTable } from './schema.ts';
import type { TreeParts } from './tree-parts.ts';

/** Snapshots that were dropped lie between these numbers, both included. */
export interface DroppedRange {
	readonly first: number;
	readonly last: number;
}

/** What is read or written of the store in one step: some milliseconds. */
const STEP_MS = 8;
/** How many rows are read at once until it is known how long that takes. */
const ROWS_AT_FIRST = 4096;
/** Fewer cost no less: each reading has a price of its own. */
const ROWS_AT_LEAST = 1024;
/** Dead rows of chunks that are looked after together. Bounds the memory. */
const ROWS_AT_ONCE = 4000;

/**
 * Removes, step by step, the past rows and the blobs that only dropped snapshots held, and nothing that lies outside the
 * range. Each step is one transaction, or none, of some milliseconds. Between steps the tree may be written, so long as none
 * falls between Tree.stage and Tree.apply. Yields the bytes of the blobs that a step removed.
 *
 * Given up or killed between any two steps, it leaves a sound file, and done again from the start it removes the rest.
 */
export function* collectDropped(store: TreeParts, range: DroppedRange): Generator<number> {
	for (const table of VERSIONED_TABLES) {
		if (table.name === 'chunk') yield* collectChunks(store, table, range);
		else yield* collectRows(store, table, range);
	}
}

/** Rows without content. */
function* collectRows(store: TreeParts, table: VersionedTable, range: DroppedRange): Generator<number> {
	for (const keys of deadRows<PastKey>(store, table, pastKeyColumns(table), range)) {
		yield 0;
		yield* inSteps(store, keys, (key) => {
			removePastRow(store.db, table, key);
			return 0;
		});
	}
}

type ChunkRow = readonly [ino: number, idx: number, died: number, blob: number];

/** A dead row of a chunk goes in one transaction with its blob, so that no blob is forgotten. */
function* collectChunks(store: TreeParts, table: VersionedTable, range: DroppedRange): Generator<number> {
	let rows: ChunkRow[] = [];
	for (const found of deadRows<ChunkRow>(store, table, [...pastKeyColumns(table), 'blob'], range)) {
		yield 0;
		for (const row of found) rows.push(row);
		if (rows.length < ROWS_AT_ONCE) continue;
		yield* collectChunkRows(store, table, rows);
		rows = [];
	}
	if (rows.length > 0) yield* collectChunkRows(store, table, rows);
}

function* collectChunkRows(store: TreeParts, table: VersionedTable, rows: readonly ChunkRow[]): Generator<number> {
	const { blobs, db } = store;
	const byBlob = rowsByBlob(rows);
	blobs.doom(byBlob.keys());
	try {
		yield* spareNamed(store, new Set(rows.map(keyText)));
		yield* inSteps(store, byBlob, ([blob, dead]) => {
			for (const [ino, idx, died] of dead) removePastRow(db, table, [ino, idx, died]);
			return blobs.removeDoomed(blob);
		});
	} finally {
		for (const blob of byBlob.keys()) blobs.spare(blob);
	}
}

/**
 * Spares the doomed blobs that anything but the dead rows names. The present is read before the past: what moves from the
 * one to the other meanwhile is seen, and what is named anew is spared by who names it.
 */
function* spareNamed(store: TreeParts, dead: ReadonlySet<string>): Generator<number> {
	const { db, blobs } = store;
	const doomed = [...blobs.doomed].sort((a, b) => a - b);
	const among = 'blob between ? and ? and blob in (select value from json_each(?))';
	const which: SqlValue[] = [doomed[0] ?? 0, doomed.at(-1) ?? 0, JSON.stringify(doomed)];
	const origins = db.prepare<number>(`select blob from origin where ${among}`, 'value').all(...which);
	for (const blob of origins) blobs.spare(blob);
	const present = { table: 'chunk', key: ['ino', 'idx'] };
	for (const named of byWindow<number>(db, present, `select blob from chunk where ${among}`, which, 'value')) {
		for (const blob of named) blobs.spare(blob);
		yield 0;
	}
	const past = { table: 'chunk_past', key: ['ino', 'idx', 'died'] };
	const rowsNaming = `select ino, idx, died, blob from chunk_past where ${among}`;
	for (const rows of byWindow<ChunkRow>(db, past, rowsNaming, which, 'tuple')) {
		for (const row of rows) if (!dead.has(keyText(row))) blobs.spare(row[3]);
		yield 0;
	}
}

/** Past rows that held snapshots of the range and hold none any more, in lists. */
function* deadRows<Row>(
	store: TreeParts,
	table: VersionedTable,
	columns: readonly string[],
	{ first, last }: DroppedRange,
): Generator<Row[]> {
	const name = `${table.name}_past`;
	const sql =
		`select ${columns.join(', ')} from ${name} as past where died>? and born<=?` +
		' and not exists(select 1 from snapshot where id>=past.born and id<past.died)';
	yield* byWindow<Row>(store.db, { table: name, key: pastKeyColumns(table) }, sql, [first, last], 'tuple');
}

/**
 * Reads a table from its first row to its last, so many rows at once as can be read in one step. `sql` ends in a condition.
 * What is written meanwhile behind the last key that was read is met, and what is written before it is not.
 */
function* byWindow<Row>(
	db: Database,
	{ table, key }: { readonly table: string; readonly key: readonly string[] },
	sql: string,
	parameters: readonly SqlValue[],
	shape: RowShape,
): Generator<Row[]> {
	const columns = key.join(', ');
	const marks = key.map(() => '?').join(', ');
	const edge = db.prepare<SqlValue[]>(
		`select ${columns} from ${table} where (${columns})>(${marks}) order by ${columns} limit 1 offset ?`,
		'tuple',
	);
	const read = db.prepare<Row>(`${sql} and (${columns})>(${marks}) and (${columns})<=(${marks})`, shape);
	// every key begins with the number of an inode
	let from: SqlValue[] | undefined = key.map(() => -1);
	for (let size = ROWS_AT_FIRST; from !== undefined; ) {
		const start = performance.now();
		const next: SqlValue[] | undefined = edge.get(...from, size);
		const rows = read.all(...parameters, ...from, ...(next ?? key.map(() => Number.MAX_SAFE_INTEGER)));
		const tookMs = performance.now() - start;
		if (tookMs < STEP_MS / 4) size *= 2;
		else if (tookMs > STEP_MS) size = Math.max(ROWS_AT_LEAST, size >> 1);
		from = next;
		yield rows;
	}
}

/** Does a write for each item, in transactions of a step each, and yields what each transaction's writes add up to. */
function* inSteps<T>(store: TreeParts, items: Iterable<T>, write: (item: T) => number): Generator<number> {
	const iterator = items[Symbol.iterator]();
	for (let next = iterator.next(); next.done !== true; ) {
		yield store.write(() => {
			const end = performance.now() + STEP_MS;
			let sum = 0;
			while (next.done !== true && performance.now() < end) {
				sum += write(next.value);
				next = iterator.next();
			}
			return sum;
		});
	}
}

function rowsByBlob(rows: readonly ChunkRow[]): Map<number, ChunkRow[]> {
	const byBlob = new Map<number, ChunkRow[]>();
	for (const row of rows) {
		const known = byBlob.get(row[3]);
		if (known === undefined) byBlob.set(row[3], [row]);
		else known.push(row);
	}
	return byBlob;
}

function keyText([ino, idx, died]: ChunkRow): string {
	return `${ino}:${idx}:${died}`;
}
