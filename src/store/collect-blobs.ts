import type { Progress } from '../base/progress.ts';
import { inNoSnapshot, type SnapshotTable } from './collect-past-rows.ts';
import type { Database } from './driver.ts';
import type { TreeParts } from './tree-parts.ts';
import { writeInBatches } from './write-in-batches.ts';

/** A blob that nothing names. */
export interface UnnamedBlob {
	readonly id: number;
	/** Bytes. */
	readonly size: number;
}

/**
 * The blobs that no chunk, present or in a snapshot, and no origin names. Every blob is sealed or open, and those tables are
 * small: reading the blobs themselves would read most of the file.
 */
export function unnamedBlobs(db: Database, snapshots: SnapshotTable = 'snapshot'): UnnamedBlob[] {
	const unnamed =
		'select blob from (select blob from seal union all select blob from open)' +
		' except select blob from chunk except select blob from origin where blob is not null' +
		` except select blob from chunk_past as past where not (${inNoSnapshot(snapshots)})`;
	return db.prepare<UnnamedBlob>(`select id, size from blob where id in (${unnamed}) order by id`).all();
}

/**
 * Deletes the blobs that nothing names, with their seals, in small transactions; which. Past rows that no snapshot holds
 * must be gone already: they are not counted as naming anything.
 */
export function collectBlobs(store: Pick<TreeParts, 'db' | 'write'>, progress: Progress): UnnamedBlob[] {
	const { db } = store;
	const blobs = unnamedBlobs(db);
	const statements = [
		db.prepare('delete from seal where blob=?'),
		db.prepare('delete from open where blob=?'),
		db.prepare('delete from blob where id=?'),
	];
	let collected = 0;
	writeInBatches(store, blobs, ({ id }) => {
		for (const statement of statements) statement.run(id);
		collected += 1;
		if (collected % 1000 === 0) progress.report(collected, blobs.length, 'blobs');
	});
	return blobs;
}
