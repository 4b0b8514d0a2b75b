import type { Database } from './driver.ts';
import type { VersionedTable } from './schema.ts';

/** The values of a past row's key, in the order of {@link pastKeyColumns}. */
export type PastKey = readonly (number | string | Buffer)[];

/** The columns by which a past row is found. */
export function pastKeyColumns({ key }: VersionedTable): string[] {
	return [...key, 'died'];
}

/** Deletes one past row. Called inside Store.write. */
export function removePastRow(db: Database, table: VersionedTable, key: PastKey): void {
	const same = pastKeyColumns(table).map((column) => `${column}=?`);
	db.prepare(`delete from ${table.name}_past where ${same.join(' and ')}`).run(...key);
}
