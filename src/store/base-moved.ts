import { type Content, PIECE_BYTES } from '../base/change.ts';
import type { Inode } from '../base/inode.ts';
import { ancestorPaths, baseName } from '../base/paths.ts';
import { BaseVisibility, type DirectoryStretch, type Stretch } from './base-visibility.ts';
import { INODE_COLUMNS, settableColumns } from './inode-row.ts';
import { withoutTrailingZeros } from './seal.ts';
import { toSqlName } from './sql-name.ts';
import type { TreeParts } from './tree-parts.ts';
import { writeInBatches } from './write-in-batches.ts';

/** One path of the base that an apply overwrites, and what the base held there. */
export interface Overwritten {
	readonly path: string;
	/** Null when nothing was there: every older snapshot gets a whiteout. */
	readonly before: Inode | null;
	/** The bytes of a file; else null. */
	readonly content: Content | null;
}

/** How to learn what the list does not say. */
export interface BaseMovedOptions {
	/** The base's directory at a path above an overwritten one, as it was; asked only for one that the list leaves out. */
	readonly directory?: (path: string) => Inode | null;
}

/**
 * Writes what an apply overwrites in the base into the rows of the past, so that every existing snapshot still reads as it
 * did: for each path, over each stretch of history in which the layer does not have it and the base shows, rows with what
 * the base held; a whiteout where it held nothing. Directories above that the layer lacks become rows that are not opaque.
 * The present is left alone. Content is stored by hash, so it is shared with the saved copy. How many paths got rows.
 *
 * The list must name every path below the root whose existence, content or attributes the apply changes: all that lies in
 * a directory which comes or goes too. Best called before the host is written, while `content` can still be read: the rows
 * say what the base says, so they do no harm if the apply is then given up, and a call that was cut short can be repeated.
 * Only under OWNER; inside a transaction it joins that one, else it writes in short ones.
 */
export function writeOverwrittenIntoHistory(
	store: Pick<TreeParts, 'db' | 'write' | 'head' | 'blobs'>,
	root: number,
	overwritten: readonly Overwritten[],
	options: BaseMovedOptions = {},
): number {
	const snapshots = store.db.prepare<number>('select id from snapshot order by id', 'value').all();
	const additions = planAdditions(store, root, overwritten, snapshots, options);
	const totals = new SnapshotTotals(store, snapshots);
	const steps = function* () {
		for (const addition of additions) yield* additionSteps(store, root, addition, totals);
	};
	writeInBatches(
		store,
		steps(),
		(step) => step(),
		() => totals.save(),
	);
	return additions.length;
}

/** Rows to add for one path. */
interface Addition {
	readonly what: Overwritten;
	/** 0 for a whiteout. */
	readonly ino: number;
	/** Where it is missing, in order. */
	readonly gaps: readonly DirectoryStretch[];
}

/** Directories come before what they hold, so that what is in them finds them. */
function planAdditions(
	store: Pick<TreeParts, 'db' | 'head'>,
	root: number,
	overwritten: readonly Overwritten[],
	snapshots: readonly number[],
	{ directory = () => null }: BaseMovedOptions,
): Addition[] {
	const visibility = new BaseVisibility(store, root);
	const settled = new Set(['', ...overwritten.map(({ path }) => path)]);
	const additions: Addition[] = [];
	let nextIno = store.head.values().nextIno;
	const gapsOf = (path: string) => visibility.gaps(path).filter((gap) => countSnapshots(snapshots, gap) > 0);
	const add = (what: Overwritten, gaps: readonly DirectoryStretch[]) => {
		if (gaps.length === 0) return;
		const ino = what.before === null ? 0 : nextIno++;
		additions.push({ what, ino, gaps });
		if (what.before?.kind === 'directory') visibility.addDirectory(what.path, ino, gaps);
	};
	for (const what of [...overwritten].sort(byPath)) {
		for (const path of ancestorPaths(what.path)) {
			if (settled.has(path)) continue;
			settled.add(path);
			const gaps = gapsOf(path);
			if (gaps.length > 0) add({ path, before: directoryBefore(path, directory), content: null }, gaps);
		}
		if (what.path !== '') add(what, gapsOf(what.path));
	}
	return additions;
}

function directoryBefore(path: string, directory: (path: string) => Inode | null): Inode {
	const before = directory(path);
	if (before?.kind !== 'directory') throw new Error(`the base's directory ${path} is neither listed nor known`);
	return before;
}

/** A directory's path is a prefix of the paths in it, so it sorts before them. */
function byPath(a: Overwritten, b: Overwritten): number {
	return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

function* additionSteps(
	store: Pick<TreeParts, 'db' | 'head' | 'blobs'>,
	root: number,
	{ what, ino, gaps }: Addition,
	totals: SnapshotTotals,
): Generator<() => void> {
	const { path, before, content } = what;
	const chunks: (readonly [idx: number, blob: number])[] = [];
	const size = before?.size ?? 0;
	for (const { offset, data } of content?.pieces() ?? []) {
		if (offset >= size) break;
		const bytes = withoutTrailingZeros(data.subarray(0, size - offset));
		if (bytes.length > 0) yield () => chunks.push([offset / PIECE_BYTES, store.blobs.put(bytes)]);
	}
	yield () => {
		for (const { directory, from, to } of gaps) insertEntry(store, directory, path, { from, to }, ino);
		if (before === null) return;
		store.head.reserveInos(ino + 1);
		for (const stretch of withoutSeams(gaps)) {
			insertInode(store, root, ino, before, stretch);
			for (const [idx, blob] of chunks) insertChunk(store, ino, idx, blob, stretch);
			for (const [name, value] of before.xattrs) insertXattr(store, ino, name, value, stretch);
			totals.count(stretch, before);
		}
	};
}

/** The same stretches without regard to the directory: a file stays one while the directory around it is another. */
function withoutSeams(stretches: readonly Stretch[]): Stretch[] {
	const result: Stretch[] = [];
	for (const { from, to } of [...stretches].sort((a, b) => a.from - b.from)) {
		const last = result.at(-1);
		if (last?.to === from) result[result.length - 1] = { from: last.from, to };
		else result.push({ from, to });
	}
	return result;
}

type Rows = Pick<TreeParts, 'db'>;

function insertEntry({ db }: Rows, parent: number, path: string, { from, to }: Stretch, ino: number): void {
	db.prepare('insert into entry_past(parent, name, born, died, ino) values(?, ?, ?, ?, ?)').run(
		parent,
		toSqlName(baseName(path)),
		from,
		to,
		ino,
	);
}

function insertInode({ db }: Rows, root: number, ino: number, inode: Inode, { from, to }: Stretch): void {
	const [mode, ...rest] = settableColumns({ ...inode, opaque: false });
	db.prepare(INSERT_INODE).run(ino, from, to, root, mode ?? 0, 1, ...rest, PIECE_BYTES);
}

const PAST_COLUMNS = INODE_COLUMNS.replace('born', 'born, died');
const INSERT_INODE = `insert into inode_past(${PAST_COLUMNS}) values(${PAST_COLUMNS.replace(/\w+/g, '?')})`;

function insertChunk({ db }: Rows, ino: number, idx: number, blob: number, { from, to }: Stretch): void {
	db.prepare('insert into chunk_past(ino, idx, born, died, blob) values(?, ?, ?, ?, ?)').run(ino, idx, from, to, blob);
}

function insertXattr({ db }: Rows, ino: number, name: string, value: Buffer, { from, to }: Stretch): void {
	db.prepare('insert into xattr_past(ino, name, born, died, value) values(?, ?, ?, ?, ?)').run(
		ino,
		toSqlName(name),
		from,
		to,
		value,
	);
}

/** What the rows add to the totals of the snapshots that hold them; written once per transaction. */
class SnapshotTotals {
	readonly #store: Rows;
	readonly #snapshots: readonly number[];
	/** By index of the snapshot at which it begins to hold. */
	readonly #steps = new Map<number, { files: number; bytes: number }>();

	constructor(store: Rows, snapshots: readonly number[]) {
		this.#store = store;
		this.#snapshots = snapshots;
	}

	count({ from, to }: Stretch, { kind, size }: Inode): void {
		const bytes = kind === 'file' ? size : 0;
		this.#step(indexFrom(this.#snapshots, from), 1, bytes);
		this.#step(indexFrom(this.#snapshots, to), -1, -bytes);
	}

	save(): void {
		if (this.#steps.size === 0) return;
		const update = this.#store.db.prepare('update snapshot set files=files+?, bytes=bytes+? where id=?');
		let files = 0;
		let bytes = 0;
		for (const [index, id] of this.#snapshots.entries()) {
			files += this.#steps.get(index)?.files ?? 0;
			bytes += this.#steps.get(index)?.bytes ?? 0;
			if (files !== 0) update.run(files, bytes, id);
		}
		this.#steps.clear();
	}

	#step(index: number, files: number, bytes: number): void {
		const step = this.#steps.get(index) ?? { files: 0, bytes: 0 };
		this.#steps.set(index, { files: step.files + files, bytes: step.bytes + bytes });
	}
}

function countSnapshots(snapshots: readonly number[], { from, to }: Stretch): number {
	return indexFrom(snapshots, to) - indexFrom(snapshots, from);
}

/** Index of the first snapshot with at least this number. */
function indexFrom(snapshots: readonly number[], id: number): number {
	let low = 0;
	let high = snapshots.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((snapshots[middle] as number) < id) low = middle + 1;
		else high = middle;
	}
	return low;
}
