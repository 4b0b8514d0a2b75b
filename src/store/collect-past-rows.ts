import type { Progress } from '../base/progress.ts';
import type { Database } from './driver.ts';
import { type PastKey, pastKeyColumns, removePastRow } from './past-rows.ts';
import { VERSIONED_TABLES, type VersionedTable } from './schema.ts';
import type { TreeParts } from './tree-parts.ts';
import { writeInBatches } from './write-in-batches.ts';

/** A table with the ids of snapshots that count: those there are, or those that would be left. */
export type SnapshotTable = 'snapshot' | 'temp.left_snapshot';

/** Condition on the row `past`: its interval [born, died) holds no snapshot. */
export function inNoSnapshot(snapshots: SnapshotTable): string {
	return `not exists(select 1 from ${snapshots} where id>=past.born and id<past.died)`;
}

/** How many past rows no snapshot holds. */
export function countPastRows(db: Database, snapshots: SnapshotTable = 'snapshot'): number {
	const condition = inNoSnapshot(snapshots);
	const counts = VERSIONED_TABLES.map(({ name }) => `(select count(*) from ${name}_past as past where ${condition})`);
	return db.prepare<number>(`select ${counts.join('+')}`, 'value').get() ?? 0;
}

/** Deletes the past rows that no snapshot holds, in small transactions; how many. */
export function collectPastRows(store: Pick<TreeParts, 'db' | 'write'>, progress: Progress): number {
	let collected = 0;
	for (const table of VERSIONED_TABLES) {
		for (const keys of deadKeys(store.db, table)) {
			writeInBatches(store, keys, (key) => removePastRow(store.db, table, key));
			collected += keys.length;
			progress.report(collected, 0, 'old versions');
		}
	}
	return collected;
}

/** Keys found in one read: bounds the memory. */
const KEYS_AT_ONCE = 5000;

/**
 * Keys of rows that no snapshot holds, in order and in lists. The scan goes on behind the last key it found, so that the
 * rows which stay are read once. A row found dead stays dead: later snapshots have higher numbers than its `died`.
 */
function* deadKeys(db: Database, table: VersionedTable): Generator<PastKey[]> {
	const key = pastKeyColumns(table).join(', ');
	const from = `select ${key} from ${table.name}_past as past where ${inNoSnapshot('snapshot')}`;
	const first = db.prepare<PastKey>(`${from} order by ${key} limit ${KEYS_AT_ONCE}`, 'tuple');
	const behind = `(${key})>(${key.replace(/\w+/g, '?')})`;
	const next = db.prepare<PastKey>(`${from} and ${behind} order by ${key} limit ${KEYS_AT_ONCE}`, 'tuple');
	let keys = first.all();
	while (keys.length > 0) {
		yield keys;
		keys = keys.length < KEYS_AT_ONCE ? [] : next.all(...(keys.at(-1) as PastKey));
	}
}
