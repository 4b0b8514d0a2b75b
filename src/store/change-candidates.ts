import type { Database } from './driver.ts';
import type { SqlName } from './sql-name.ts';

/** What may differ between two states; whether it does must be looked at. */
export interface ChangeCandidates {
	readonly entries: readonly (readonly [parent: number, name: SqlName])[];
	/** Inodes by what was touched: the row, the content, the extended attributes. */
	readonly rows: ReadonlySet<number>;
	readonly contents: ReadonlySet<number>;
	readonly xattrs: ReadonlySet<number>;
}

/**
 * Everything that was touched after snapshot `low` and by snapshot `high`: a row may have been changed and changed back.
 *
 * Both tables must be asked: a version that was born between the two and died after them is in the past only. Read without
 * an index, 35 ms for a million rows; indexes on `born` and `died` would make every write dearer by half.
 */
export function changeCandidates(db: Database, low: number, high: number): ChangeCandidates {
	const ask = <Answer>(table: string, columns: string, shape: 'tuple' | 'value') =>
		db
			.prepare<Answer>(
				`select ${columns} from ${table} where born > ? and born <= ? union all
				select ${columns} from ${table}_past where died > ? and born <= ? and (born > ? or died <= ?)`,
				shape,
			)
			.all(low, high, low, high, low, high);
	const inos = (table: string) => new Set(ask<number>(table, 'ino', 'value'));
	return {
		entries: ask<[number, SqlName]>('entry', 'parent, name', 'tuple'),
		rows: inos('inode'),
		contents: inos('chunk'),
		xattrs: inos('xattr'),
	};
}
