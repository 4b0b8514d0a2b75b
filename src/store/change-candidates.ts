import type { Database } from './driver.ts';
import { INODE_COLUMNS, type InodeRow } from './inode-row.ts';
import type { SqlName } from './sql-name.ts';

/** What may differ between two states; whether it does must be looked at. */
export interface ChangeCandidates {
	/** Names that were touched, with what each stood for; one name may be there with several inodes. */
	readonly entries: readonly (readonly [parent: number, name: SqlName, ino: number])[];
	/** Rows of inodes that were touched, as they are in the lower and in the higher state. */
	readonly lowRows: readonly InodeRow[];
	readonly highRows: readonly InodeRow[];
	/** Inodes whose content or extended attributes were touched. */
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
	return {
		entries: ask<[number, SqlName, number]>('entry', 'parent, name, ino', 'tuple'),
		...inodeRows(db, low, high),
		contents: new Set(ask<number>('chunk', 'ino', 'value')),
		xattrs: new Set(ask<number>('xattr', 'ino', 'value')),
	};
}

/** What was both born and dead in between is in neither state. */
function inodeRows(db: Database, low: number, high: number): Pick<ChangeCandidates, 'lowRows' | 'highRows'> {
	const born = db.prepare<InodeRow>(`select ${INODE_COLUMNS} from inode where born > ? and born <= ?`, 'tuple');
	const past = db.prepare<InodeRow>(
		`select ${INODE_COLUMNS} from inode_past where died > ? and born <= ? and (born > ?) = (died > ?)`,
		'tuple',
	);
	const rows = past.all(low, high, low, high);
	return {
		lowRows: rows.filter((row) => row[1] <= low),
		highRows: [...born.all(low, high), ...rows.filter((row) => row[1] > low)],
	};
}
