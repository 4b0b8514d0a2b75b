import type { Database } from './driver.ts';

/** Pages moved in one transaction: some milliseconds. */
const PAGES_AT_ONCE = 64;

/**
 * Cuts free pages off the file, some in each step, until so many are left; yields how many a step cut off. A file without
 * auto_vacuum keeps them all. The file itself shrinks at the next checkpoint.
 */
export function* giveBackPages(db: Database, leave = 0): Generator<number> {
	for (let free = freePages(db); free > leave; ) {
		// only exec runs the whole pragma: a prepared statement frees one page
		db.exec(`pragma incremental_vacuum(${Math.min(PAGES_AT_ONCE, free - leave)})`);
		const now = freePages(db);
		if (now >= free) return;
		yield free - now;
		free = now;
	}
}

function freePages(db: Database): number {
	return db.pragma('freelist_count') as number;
}
