/**
 * The tables of session.db, declared once. DDL, the history triggers and docs/format.md come from these rows.
 *
 * Versioned tables hold the present; each has a `<name>_past` with the same columns and `died`. A row knows the snapshot
 * that will first contain it (`born`). Changing a row born before the head moves the old version to `_past` with
 * `died = head`; one born at the head belongs to no snapshot yet and is overwritten. Triggers do the moving, so no writer
 * can lose history, and abort a writer that sets any other `born`.
 */

/** "dcl1": marks the file as a session (PRAGMA application_id). */
export const APPLICATION_ID = 0x64636c31;
/** Raised with every change of the tables (PRAGMA user_version). */
export const SCHEMA_VERSION = 1;
/** Bytes of a database page, set before the first table. */
export const PAGE_BYTES = 8192;

/** One column: its name, its type in SQL, and what it means. */
export interface Column {
	readonly name: string;
	readonly type: string;
	readonly meaning: string;
}

/** One table whose rows have versions. */
export interface VersionedTable {
	readonly name: 'inode' | 'entry' | 'chunk' | 'xattr';
	readonly meaning: string;
	readonly key: readonly string[];
	readonly withoutRowid: boolean;
	/** Condition under which an UPDATE or DELETE outside the head is let through without making a version. */
	readonly unless?: string;
	readonly columns: readonly Column[];
}

/** One table without versions. */
export interface PlainTable {
	readonly name: string;
	readonly meaning: string;
	readonly options: string;
	/** Constraints after the columns. */
	readonly constraints?: readonly string[];
	readonly columns: readonly Column[];
}

const column = (name: string, type: string, meaning: string): Column => ({ name, type, meaning });
const BORN = column('born', 'integer not null', 'the snapshot that will first contain this version');
const NAME = (of: string) => `any not null check(typeof(${of}) in ('text','blob'))`;

export const VERSIONED_TABLES: readonly VersionedTable[] = [
	{
		name: 'inode',
		meaning: 'one file, directory, link or special file of a layer',
		key: ['ino'],
		withoutRowid: false,
		columns: [
			column('ino', 'integer primary key', 'inode number, never used again'),
			BORN,
			column('root', 'integer not null', 'inode number of the root whose tree it is in'),
			column('mode', 'integer not null', 'type and permission bits, as st_mode'),
			column('nlink', 'integer not null', 'entries that name it; 1 for a root'),
			column('uid', 'integer not null', 'owner'),
			column('gid', 'integer not null', 'group'),
			column('size', 'integer not null', 'bytes of a file'),
			column('rdev', 'integer not null', 'device number of a char or block node'),
			column('atime', 'integer not null', 'seconds'),
			column('atime_ns', 'integer not null', 'nanoseconds within the second'),
			column('mtime', 'integer not null', 'seconds'),
			column('mtime_ns', 'integer not null', 'nanoseconds within the second'),
			column('ctime', 'integer not null', 'seconds'),
			column('ctime_ns', 'integer not null', 'nanoseconds within the second'),
			column('target', 'any', 'where a symlink points; TEXT when valid UTF-8, else BLOB'),
			column('opaque', 'integer not null', '1: a directory that hides the base beneath it'),
			column('chunk_bytes', 'integer not null', 'bytes of a full chunk of this file'),
		],
	},
	{
		name: 'entry',
		meaning: 'a name in a directory of a layer',
		key: ['parent', 'name'],
		withoutRowid: true,
		columns: [
			column('parent', 'integer not null', 'inode number of the directory'),
			column('name', NAME('name'), 'TEXT when its bytes are valid UTF-8, else BLOB'),
			BORN,
			column('ino', 'integer not null', 'what it names; 0 is a whiteout: the name is deleted from the base'),
		],
	},
	{
		name: 'chunk',
		meaning: 'a piece of a file; a missing one is a hole, and inode.size rules',
		key: ['ino', 'idx'],
		withoutRowid: true,
		unless: '(select sealing from head)=1',
		columns: [
			column('ino', 'integer not null', 'the file'),
			column('idx', 'integer not null', 'offset divided by inode.chunk_bytes'),
			BORN,
			column('blob', 'integer not null', 'its content'),
		],
	},
	{
		name: 'xattr',
		meaning: 'an extended attribute',
		key: ['ino', 'name'],
		withoutRowid: true,
		columns: [
			column('ino', 'integer not null', 'whose it is'),
			column('name', NAME('name'), 'with its namespace, such as user.k'),
			BORN,
			column('value', 'blob not null', 'its bytes'),
		],
	},
];

export const PLAIN_TABLES: readonly PlainTable[] = [
	{
		name: 'config',
		meaning: 'facts about the session, by key (store/config.ts names them)',
		options: 'strict, without rowid',
		columns: [column('key', 'text primary key', 'name of the fact'), column('value', 'any', 'its value')],
	},
	{
		name: 'head',
		meaning: 'the one row that says where history stands',
		options: 'strict',
		columns: [
			column('id', 'integer primary key check(id=1)', 'always 1'),
			column('head', 'integer not null', 'number of the next snapshot'),
			column('next_ino', 'integer not null', 'number of the next inode'),
			column('position', 'integer not null', 'the snapshot that the present grew from'),
			column('changed', 'integer not null', '1: the present differs from the position'),
			column('sealing', 'integer not null', '1 while sealing repoints chunks without making versions'),
			column('files', 'integer not null', 'inodes of the present, roots aside'),
			column('bytes', 'integer not null', 'sizes of its regular files, added up'),
		],
	},
	{
		name: 'root',
		meaning: 'where a tree is laid over the host',
		options: 'strict',
		columns: [
			column('ino', 'integer primary key', 'inode number of the tree’s root directory'),
			column('role', 'text not null', 'project, home, gitdir, or saved: what an apply overwrote'),
			column('base_path', 'any', 'the host directory beneath it; null when there is none'),
		],
	},
	{
		name: 'snapshot',
		meaning: 'an immutable point of history',
		options: 'strict',
		columns: [
			column('id', 'integer primary key', 'from 1, never used again'),
			column('parent', 'integer', 'the position when it was taken'),
			column('tag', 'text unique', 'a name for it'),
			column('trigger', 'text not null', 'start quiet ceiling request manual exit restore apply adopt branch'),
			column('at_rest', 'integer not null', '0: taken while something was still writing'),
			column('created', 'integer not null', 'seconds'),
			column('created_ns', 'integer not null', 'nanoseconds within the second'),
			column('run', 'integer', 'the run that was going on'),
			column('note', 'text', 'why, for people'),
			column('files', 'integer not null', 'inodes of the layer, roots aside'),
			column('bytes', 'integer not null', 'bytes of the layer’s files'),
		],
	},
	{
		name: 'blob',
		meaning: 'content; a row is never rewritten to set a hash',
		options: 'strict',
		columns: [
			column('id', 'integer primary key autoincrement', 'never used again'),
			column('size', 'integer not null', 'bytes'),
			column('data', 'blob not null', 'the bytes'),
		],
	},
	{
		name: 'seal',
		meaning: 'finished blobs by content: equal content is stored once',
		options: 'strict, without rowid',
		columns: [
			column('hash', 'blob primary key', 'SHA-256 of the data'),
			column('blob', 'integer not null unique', 'the blob'),
		],
	},
	{
		name: 'open',
		meaning: 'blobs private to one chunk: overwritten in place only while open.born = chunk.born = head',
		options: 'strict',
		columns: [
			column('blob', 'integer primary key', 'the blob'),
			column('ino', 'integer not null', 'the file that writes it'),
			column('idx', 'integer not null', 'the chunk of that file'),
			column('born', 'integer not null', 'the head when it was made'),
		],
	},
	{
		name: 'origin',
		meaning: 'what the base held when the session first changed a path: the base of every drift check and merge',
		options: 'strict, without rowid',
		constraints: ['primary key(root, path)'],
		columns: [
			column('root', 'integer not null', 'the tree'),
			column('path', NAME('path'), 'below the root'),
			column('kind', 'text not null', 'kind of what was there; absent when nothing was'),
			column('mode', 'integer not null', 'permission bits'),
			column('size', 'integer not null', 'bytes'),
			column('mtime', 'integer not null', 'seconds'),
			column('mtime_ns', 'integer not null', 'nanoseconds within the second'),
			column('ctime', 'integer not null', 'seconds'),
			column('ctime_ns', 'integer not null', 'nanoseconds within the second'),
			column('target', 'any', 'where a symlink pointed'),
			column('hash', 'blob', 'SHA-256 of the content; null when it was not read'),
			column('blob', 'integer', 'the content itself, up to a size limit'),
			column(
				'trusted',
				'integer not null',
				'0: the host may have changed it before it was recorded: counts as drifted',
			),
		],
	},
	{
		name: 'run',
		meaning: 'a command that was run in the session',
		options: 'strict',
		columns: [
			column('id', 'integer primary key autoincrement', 'never used again'),
			column('argv', 'text not null', 'JSON array of the command line'),
			column('cwd', 'any not null', 'its working directory'),
			column('agent', 'text', 'which agent it was, when known'),
			column('started', 'integer not null', 'seconds'),
			column('started_ns', 'integer not null', 'nanoseconds within the second'),
			column('ended', 'integer', 'seconds; null while it runs or when its end was not seen'),
			column('ended_ns', 'integer', 'nanoseconds within the second'),
			column('exit', 'integer', 'exit code'),
			column('signal', 'integer', 'number of the signal that killed it'),
			column('backend', 'text not null', 'kernel or fuse'),
			column('first_snapshot', 'integer', 'the position when it started'),
			column('last_snapshot', 'integer', 'the position when it ended'),
		],
	},
	{
		name: 'applied',
		meaning: 'an apply to the host: what it did, so that it can be continued, aborted or undone',
		options: 'strict',
		columns: [
			column('id', 'integer primary key autoincrement', 'never used again'),
			column('created', 'integer not null', 'seconds'),
			column('created_ns', 'integer not null', 'nanoseconds within the second'),
			column('state', 'text not null', 'writing, done, undone or aborted'),
			column('snapshot', 'integer not null', 'the snapshot that was applied'),
			column('saved', 'integer not null', 'root whose tree holds what was overwritten'),
			column('paths', 'text not null', 'JSON: what was written'),
		],
	},
];

export const INDEXES: readonly string[] = [
	'create index entry_ino on entry(ino)',
	'create index entry_past_ino on entry_past(ino, died)',
	'create index snapshot_parent on snapshot(parent)',
];

/** Every statement that makes an empty session's tables, in order. */
export function schemaStatements(): string[] {
	return [
		...PLAIN_TABLES.map(plainTable),
		...VERSIONED_TABLES.flatMap(versionedTable),
		...INDEXES,
		'insert into head values(1, 1, 1, 0, 0, 0, 0, 0)',
	];
}

function plainTable({ name, columns, constraints = [], options }: PlainTable): string {
	return `create table ${name}(${[...columns.map(columnText), ...constraints].join(', ')}) ${options}`;
}

function versionedTable(table: VersionedTable): string[] {
	const { name, key, withoutRowid } = table;
	const own = table.columns.map(columnText);
	const past = table.columns.map((c) => columnText({ ...c, type: c.type.replace(' primary key', ' not null') }));
	past.splice(past.findIndex((text) => text.startsWith('born ')) + 1, 0, 'died integer not null');
	return [
		`create table ${name}(${[...own, ...(withoutRowid ? [`primary key(${key.join(', ')})`] : [])].join(', ')}) strict${withoutRowid ? ', without rowid' : ''}`,
		`create table ${name}_past(${[...past, `primary key(${key.join(', ')}, died)`, 'check(born<died)'].join(', ')}) strict, without rowid`,
		...historyTriggers(table),
	];
}

function historyTriggers({ name, columns, unless }: VersionedTable): string[] {
	const headRow = '(select head from head)';
	const abort = `raise(abort, '${name}.born must be the head')`;
	const move = (died: string) => {
		const values = columns.flatMap((c) => (c.name === 'born' ? ['old.born', died] : [`old.${c.name}`]));
		return `insert into ${name}_past values(${values.join(', ')})`;
	};
	const exempt = unless === undefined ? '' : ` and not ${unless}`;
	const elsewhere = `new.born<>${headRow}${exempt}`;
	return [
		`create trigger ${name}_insert before insert on ${name} when new.born<>${headRow} begin select ${abort}; end`,
		`create trigger ${name}_update after update on ${name} when old.born<new.born or ${elsewhere} begin ` +
			`select ${abort} where new.born<>${headRow}; ${move('new.born')}; end`,
		`create trigger ${name}_delete after delete on ${name} when old.born<${headRow}${exempt} begin ${move(headRow)}; end`,
	];
}

function columnText({ name, type }: Column): string {
	return `${name} ${type}`;
}
