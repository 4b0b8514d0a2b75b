import type { SqlValue } from './driver.ts';
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
/** Dead rows of chunks that are looked after together. Bounds the memory. */
const ROWS_AT_ONCE = 20_000;

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
	const present = db.prepare<number>(`select blob from chunk where ino>=? and ino<? and ${among}`, 'value');
	for (const named of byWindow(store, (from, to) => present.all(from, to, ...which))) {
		for (const blob of named) blobs.spare(blob);
		yield 0;
	}
	const past = db.prepare<ChunkRow>(
		`select ino, idx, died, blob from chunk_past where ino>=? and ino<? and ${among}`,
		'tuple',
	);
	for (const rows of byWindow(store, (from, to) => past.all(from, to, ...which))) {
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
	const owner = table.key[0];
	const statement = store.db.prepare<Row>(
		`select ${columns.join(', ')} from ${table.name}_past as past where ${owner}>=? and ${owner}<?` +
			' and died>? and born<=? and not exists(select 1 from snapshot where id>=past.born and id<past.died)',
		'tuple',
	);
	yield* byWindow(store, (from, to) => statement.all(from, to, first, last));
}

/** Reads what hangs on inodes, from the first to the last, so many at once as can be read in one step. */
function* byWindow<T>({ head }: TreeParts, read: (fromIno: number, toIno: number) => T): Generator<T> {
	const end = head.values().nextIno;
	let width = 4096;
	for (let from = 1; from < end; ) {
		const start = performance.now();
		const found = read(from, from + width);
		const tookMs = performance.now() - start;
		from += width;
		if (tookMs < STEP_MS / 4) width *= 2;
		else if (tookMs > STEP_MS) width = Math.max(1, width >> 1);
		yield found;
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
