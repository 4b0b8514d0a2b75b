import { type Progress, silent } from '../base/progress.ts';
import { collectBlobs, unnamedBlobs } from './collect-blobs.ts';
import { collectPastRows, countPastRows } from './collect-past-rows.ts';
import type { Database } from './driver.ts';
import { chooseSnapshots, type DropChoice, dropSnapshots, type SparedSnapshot } from './drop-snapshots.ts';
import { giveBackPages } from './give-back-pages.ts';
import type { TreeParts } from './tree-parts.ts';

/** What to collect, and what must stay. */
export interface GcOptions extends DropChoice {
	/** Says what would go and writes nothing. */
	readonly dryRun?: boolean;
	readonly progress?: Progress;
}

/** What went, or would go. */
export interface GcReport {
	readonly dryRun: boolean;
	readonly dropped: readonly number[];
	/** Snapshots that were to be dropped but stay, and why. */
	readonly spared: readonly SparedSnapshot[];
	/** Versions of rows that no remaining snapshot holds. */
	readonly pastRows: number;
	readonly blobs: number;
	readonly blobBytes: number;
	/** By how much the file shrinks at the next checkpoint; 0 in a dry run. */
	readonly freedBytes: number;
}

/**
 * Drops snapshots, then the past rows whose interval holds no remaining snapshot, then the blobs that nothing names (those
 * of interrupted ingestion too), and gives free pages back. Every remaining snapshot stays as it is. Only under OWNER, not
 * inside a transaction, and not between Tree.stage and Tree.apply: staged blobs are named by nothing yet. Killed at any
 * point it leaves a sound file; the next gc takes up what is left.
 */
export function collectGarbage(store: Pick<TreeParts, 'db' | 'write'>, options: GcOptions): GcReport {
	const { dryRun = false, progress = silent } = options;
	const { dropped, spared } = chooseSnapshots(store.db, options);
	if (dryRun) return { dryRun, dropped, spared, ...measure(store.db, dropped) };
	return withShortWal(store.db, () => {
		dropSnapshots(store, dropped);
		const pastRows = collectPastRows(store, progress);
		const blobs = collectBlobs(store, progress);
		const freedBytes = shrink(store, progress);
		return { dryRun, dropped, spared, pastRows, blobs: blobs.length, blobBytes: totalBytes(blobs), freedBytes };
	});
}

/** Pages of the -wal that are written back at once meanwhile: it is for disks that are nearly full. */
const WAL_PAGES = 100;

function withShortWal<T>(db: Database, action: () => T): T {
	const before = db.pragma('wal_autocheckpoint') as number;
	db.pragma(`wal_autocheckpoint=${WAL_PAGES}`);
	try {
		return action();
	} finally {
		db.pragma(`wal_autocheckpoint=${before}`);
	}
}

/** What would go: counted against a temporary table of the snapshots that would be left, so that nothing is written. */
function measure(
	db: Database,
	dropped: readonly number[],
): Pick<GcReport, 'pastRows' | 'blobs' | 'blobBytes' | 'freedBytes'> {
	db.exec('drop table if exists temp.left_snapshot; create temp table left_snapshot(id integer primary key)');
	try {
		db.prepare(
			'insert into temp.left_snapshot select id from snapshot where id not in (select value from json_each(?))',
		).run(JSON.stringify(dropped));
		const blobs = unnamedBlobs(db, 'temp.left_snapshot');
		const pastRows = countPastRows(db, 'temp.left_snapshot');
		return { pastRows, blobs: blobs.length, blobBytes: totalBytes(blobs), freedBytes: 0 };
	} finally {
		db.exec('drop table temp.left_snapshot');
	}
}

function totalBytes(blobs: readonly { readonly size: number }[]): number {
	return blobs.reduce((sum, { size }) => sum + size, 0);
}

function shrink({ db }: Pick<TreeParts, 'db'>, progress: Progress): number {
	const total = db.pragma('freelist_count') as number;
	let given = 0;
	for (const pages of giveBackPages(db)) {
		given += pages;
		progress.report(given, total, 'free pages');
	}
	return given * (db.pragma('page_size') as number);
}
