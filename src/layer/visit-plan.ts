import { ancestorPaths, parentPath } from '../base/paths.ts';
import type { ScanMemory } from './scan-memory.ts';
import { isDirectoryRecord, RECORD_WORDS } from './scan-record.ts';

/** The directories whose names a partial scan looks at, and those that it passes through on the way. */
export type VisitPlan = ReadonlyMap<string, 'visit' | 'pass'>;

/**
 * Plans a scan of some directories and some files. For a directory that is not remembered, the nearest one above it that
 * is: there it shows as new.
 */
export function planVisits(memory: ScanMemory, directories: Iterable<string>, files: Iterable<string>): VisitPlan {
	const plan = new Map<string, 'visit' | 'pass'>([['', 'pass']]);
	for (const directory of [...directories, ...Array.from(files, parentPath)]) {
		const known = nearestRemembered(memory, directory);
		plan.set(known, 'visit');
		for (const above of ancestorPaths(known)) if (!plan.has(above)) plan.set(above, 'pass');
	}
	return plan;
}

function nearestRemembered(memory: ScanMemory, path: string): string {
	for (let at = path; at !== ''; at = parentPath(at)) {
		const index = memory.find(at);
		if (index >= 0 && isDirectoryRecord(memory.records, index * RECORD_WORDS)) return at;
	}
	return '';
}
