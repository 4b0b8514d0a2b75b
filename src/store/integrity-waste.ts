import { silent } from '../base/progress.ts';
import { collectBlobs, unnamedBlobs } from './collect-blobs.ts';
import { collectPastRows, countPastRows } from './collect-past-rows.ts';
import type { CheckGroup } from './integrity-check.ts';

/** Leftovers of work that was cut short: no reader sees them, gc takes them, and so does the repair. */
export const WASTE_CHECKS: readonly CheckGroup[] = [
	{
		checks: [{ name: 'history.held', what: 'every past version is held by a snapshot', harmless: true }],
		*find(db) {
			const count = countPastRows(db);
			if (count > 0) yield { check: 'history.held', message: `${count} past versions are in no snapshot` };
		},
		repair: (store) => collectPastRows(store, silent),
	},
	{
		checks: [{ name: 'blob.named', what: 'every blob is named by a chunk or an origin', harmless: true }],
		*find(db) {
			for (const { id, size } of unnamedBlobs(db)) {
				yield { check: 'blob.named', message: `nothing names blob ${id} of ${size} bytes` };
			}
		},
		repair: (store) => collectBlobs(store, silent).length,
	},
];
