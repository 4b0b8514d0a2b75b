import { ancestorPaths, parentPath } from '../base/paths.ts';
import type { ScanMemory } from './scan-memory.ts';
import { FLAG_WHITEOUT, FLAGS, isDirectoryRecord, RECORD_WORDS, recordLinks } from './scan-record.ts';

/** The directories whose names a partial scan looks at, and those that it passes through on the way. */
export type VisitPlan = ReadonlyMap<string, 'visit' | 'pass'>;

/**
 * Plans a scan of some directories and some files. For a directory that is not remembered, the nearest one above it that
 * is: there it shows as new. Directories of files with several names are always looked at: what happens to such a file by
 * one name shows in the others' directories by no event.
 */
export function planVisits(memory: ScanMemory, directories: Iterable<string>, files: Iterable<string>): VisitPlan {
	const plan = new Map<string, 'visit' | 'pass'>([['', 'pass']]);
	for (const directory of [...directories, ...Array.from(files, parentPath), ...directoriesOfLinks(memory)]) {
		const known = nearestRemembered(memory, directory);
		if (plan.get(known) === 'visit') continue;
		plan.set(known, 'visit');
		for (const above of ancestorPaths(known)) if (!plan.has(above)) plan.set(above, 'pass');
	}
	return plan;
}

function directoriesOfLinks(memory: ScanMemory): string[] {
	const { records, count } = memory;
	for (let index = 0; index < count; index++) {
		if (isOneOfSeveral(records, index * RECORD_WORDS)) return Array.from(memory.directoriesOf(isOneOfSeveral));
	}
	return [];
}

/** The kernel links whiteouts to each other without meaning anything by it. */
function isOneOfSeveral(records: Uint32Array, at: number): boolean {
	if (recordLinks(records, at) < 2 || isDirectoryRecord(records, at)) return false;
	return ((records[at + FLAGS] as number) & FLAG_WHITEOUT) === 0;
}

function nearestRemembered(memory: ScanMemory, path: string): string {
	for (let at = path; at !== ''; at = parentPath(at)) {
		const index = memory.find(at);
		if (index >= 0 && isDirectoryRecord(memory.records, index * RECORD_WORDS)) return at;
	}
	return '';
}
