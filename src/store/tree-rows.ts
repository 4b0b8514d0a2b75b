import type { Database } from './driver.ts';
import { INODE_COLUMNS, type InodeRow } from './inode-row.ts';
import type { SqlName } from './sql-name.ts';

/** A state of the tree: a snapshot's number, the present, or 0: before everything, when nothing was there. */
export type TreeRef = number | 'now';

/** The rows of one state of the tree, raw. */
export interface TreeRows {
	/** What a name stands for: an inode number, 0 for a whiteout, null when there is no entry. */
	entry(parent: number, name: SqlName): number | null;
	inode(ino: number): InodeRow | null;
	/** The entries of a directory, in the order of the table. */
	entries(parent: number): [name: SqlName, ino: number][];
	/** The chunks of a file, in order. */
	chunks(ino: number): [idx: number, blob: number][];
	xattrs(ino: number): [name: SqlName, value: Buffer][];
	/** The entries that name an inode. */
	names(ino: number): [parent: number, name: SqlName][];
}

/** The state now. */
export function presentRows(db: Database): TreeRows {
	const entry = db.prepare<number>('select ino from entry where parent = ? and name = ?', 'value');
	const inode = db.prepare<InodeRow>(`select ${INODE_COLUMNS} from inode where ino = ?`, 'tuple');
	const entries = db.prepare<[SqlName, number]>(
		'select name, ino from entry where parent = ? order by parent, name',
		'tuple',
	);
	const chunks = db.prepare<[number, number]>('select idx, blob from chunk where ino = ? order by ino, idx', 'tuple');
	const xattrs = db.prepare<[SqlName, Buffer]>('select name, value from xattr where ino = ?', 'tuple');
	const names = db.prepare<[number, SqlName]>('select parent, name from entry where ino = ?', 'tuple');
	return {
		entry: (parent, name) => entry.get(parent, name) ?? null,
		inode: (ino) => inode.get(ino) ?? null,
		entries: (parent) => entries.all(parent),
		chunks: (ino) => chunks.all(ino),
		xattrs: (ino) => xattrs.all(ino),
		names: (ino) => names.all(ino),
	};
}

/**
 * The state at a snapshot: the live row if it was born by then, else the past row that died first after it.
 *
 * For one key that is one seek, but only with `order by died limit 1`; whether the row found was born by then is looked at
 * afterwards. The intervals of a key are disjoint, which SQLite does not know: with `born <= ?` in the statement it would
 * walk all later versions.
 */
export function rowsAt(db: Database, snapshot: number): TreeRows {
	const s = snapshot;
	const entry = db.prepare<[number, number]>('select born, ino from entry where parent = ? and name = ?', 'tuple');
	const entryPast = db.prepare<[number, number]>(
		'select born, ino from entry_past where parent = ? and name = ? and died > ? order by died limit 1',
		'tuple',
	);
	const inode = db.prepare<InodeRow>(`select ${INODE_COLUMNS} from inode where ino = ?`, 'tuple');
	const inodePast = db.prepare<InodeRow>(
		`select ${INODE_COLUMNS} from inode_past where ino = ? and died > ? order by died limit 1`,
		'tuple',
	);
	const entries = db.prepare<[SqlName, number]>(
		`select name, ino from entry where parent = ? and born <= ? union all
		select name, ino from entry_past where parent = ? and died > ? and born <= ? order by 1`,
		'tuple',
	);
	const chunks = db.prepare<[number, number]>(
		`select idx, blob from chunk where ino = ? and born <= ? union all
		select idx, blob from chunk_past where ino = ? and died > ? and born <= ? order by 1`,
		'tuple',
	);
	const xattrs = db.prepare<[SqlName, Buffer]>(
		`select name, value from xattr where ino = ? and born <= ? union all
		select name, value from xattr_past where ino = ? and died > ? and born <= ?`,
		'tuple',
	);
	const names = db.prepare<[number, SqlName]>(
		`select parent, name from entry where ino = ? and born <= ? union all
		select parent, name from entry_past where ino = ? and died > ? and born <= ?`,
		'tuple',
	);
	return {
		entry(parent, name) {
			const live = entry.get(parent, name);
			if (live !== undefined && live[0] <= s) return live[1];
			const past = entryPast.get(parent, name, s);
			return past !== undefined && past[0] <= s ? past[1] : null;
		},
		inode(ino) {
			const live = inode.get(ino);
			if (live !== undefined && live[1] <= s) return live;
			const past = inodePast.get(ino, s);
			return past !== undefined && past[1] <= s ? past : null;
		},
		entries: (parent) => entries.all(parent, s, parent, s, s),
		chunks: (ino) => chunks.all(ino, s, ino, s, s),
		xattrs: (ino) => xattrs.all(ino, s, ino, s, s),
		names: (ino) => names.all(ino, s, ino, s, s),
	};
}
