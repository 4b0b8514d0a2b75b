import { decodeName, isUtf8Name } from '../base/bytes.ts';
import { PIECE_BYTES } from '../base/change.ts';
import { TYPE_BITS } from '../base/inode.ts';
import type { Database } from './driver.ts';
import { type CheckGroup, queryCheck, versionsOf } from './integrity-check.ts';

const NANOSECONDS = 'between 0 and 999999999';
const TYPE = 'mode & 61440';
const KINDS = "'file','directory','symlink','fifo','socket','char','block'";
const isKind = (kind: keyof typeof TYPE_BITS) => `${TYPE}=${TYPE_BITS[kind]}`;

/** Claims about single rows. */
export const ROW_CHECKS: readonly CheckGroup[] = [
	queryCheck(
		'inode.mode',
		'every mode has a known type and no bits above',
		`select 'inode '||ino||' has mode '||mode from ${versionsOf('inode')}
		where mode not between 0 and 65535 or ${TYPE} not in (${Object.values(TYPE_BITS).join(', ')})`,
	),
	queryCheck(
		'inode.values',
		'numbers, sizes, owners and times of inodes are in range',
		`select 'inode '||ino||' has a value out of range' from ${versionsOf('inode')}
		where ino<1 or nlink<0 or size<0 or rdev<0 or uid not between 0 and 4294967295 or gid not between 0 and 4294967295
		or not (atime_ns ${NANOSECONDS} and mtime_ns ${NANOSECONDS} and ctime_ns ${NANOSECONDS})`,
	),
	queryCheck(
		'inode.target',
		'symlinks, and nothing else, have a target',
		`select 'inode '||ino||(case when target is null then ' has no' else ' has a wrong' end)||' target'
		from ${versionsOf('inode')}
		where (${isKind('symlink')})<>(target is not null)
		or target is not null and (typeof(target) not in ('text','blob') or length(cast(target as blob))=0)`,
	),
	queryCheck(
		'inode.opaque',
		'only directories are opaque',
		`select 'inode '||ino||' is opaque and no directory' from ${versionsOf('inode')}
		where opaque not in (0, 1) or opaque=1 and not ${isKind('directory')}`,
	),
	queryCheck(
		'inode.chunk_bytes',
		'the chunks of every file divide a window of its content',
		`select 'inode '||ino||' has chunks of '||chunk_bytes||' bytes' from ${versionsOf('inode')}
		where ${isKind('file')} and (chunk_bytes<1 or ${PIECE_BYTES}%chunk_bytes<>0)`,
	),
	queryCheck(
		'entry.numbers',
		'entries name an inode or a whiteout (0), in a directory',
		`select 'an entry of directory '||parent||' names '||ino from ${versionsOf('entry')} where parent<1 or ino<0`,
	),
	queryCheck(
		'entry.name_valid',
		'names are 1 to 255 bytes, with no slash, no NUL, and not . or ..',
		`select 'directory '||parent||' holds a name that is not valid' from
		(select parent, cast(name as blob) as bytes from ${versionsOf('entry')})
		where length(bytes) not between 1 and 255 or instr(bytes, x'2f')>0 or instr(bytes, x'00')>0
		or bytes in (x'2e', x'2e2e')`,
	),
	{
		checks: [{ name: 'entry.name_encoding', what: 'a name is TEXT when its bytes are valid UTF-8, and else BLOB' }],
		*find(db) {
			for (const table of ['entry', 'entry_past']) {
				for (const [parent, type, bytes] of oddNames(db, table)) {
					if (isUtf8Name(decodeName(bytes)) === (type === 'text')) continue;
					yield {
						check: 'entry.name_encoding',
						message: `directory ${parent} holds a ${type} name ${bytes.toString('hex')}`,
					};
				}
			}
		},
	},
	queryCheck(
		'xattr.values',
		'extended attributes belong to an inode and have a name',
		`select 'an attribute of inode '||ino||' has no valid name' from ${versionsOf('xattr')}
		where ino<1 or length(cast(name as blob)) not between 1 and 255`,
	),
	queryCheck(
		'chunk.index',
		'chunks are counted from 0',
		`select 'inode '||ino||' has a chunk '||idx from ${versionsOf('chunk')} where idx<0 or ino<1`,
	),
	queryCheck(
		'origin.values',
		'origins are complete and of a root that exists',
		`select 'an origin of root '||root||' is not valid' from origin
		where root not in (select ino from root) or kind not in (${KINDS},'absent') or size<0 or mode not between 0 and 4095
		or not (mtime_ns ${NANOSECONDS} and ctime_ns ${NANOSECONDS}) or trusted not in (0, 1)
		or length(hash)<>32 or (kind='symlink')<>(target is not null)`,
	),
	queryCheck(
		'run.values',
		'runs have a command line and times',
		`select 'run '||id||' is not valid' from run
		where not json_valid(argv) or json_type(argv)<>'array' or not started_ns ${NANOSECONDS}
		or (ended is null)<>(ended_ns is null) or not ended_ns ${NANOSECONDS} or typeof(cwd) not in ('text','blob')`,
	),
	queryCheck(
		'applied.values',
		'applies are in a known state and have their saved copy',
		`select 'apply '||id||' is not valid' from applied
		where state not in ('writing','done','undone','aborted') or not json_valid(paths)
		or saved not in (select ino from root)`,
	),
];

type NameRow = [parent: number, type: 'text' | 'blob', bytes: Buffer];

const NAMES_AT_ONCE = 5000;

/**
 * Names that are not plain ASCII text, in order. Bytes go in and out as BLOB: text that is not UTF-8 would come back
 * changed, and the walk would not find its place again.
 */
function* oddNames(db: Database, table: string): Generator<NameRow> {
	const page = (condition: string) =>
		db.prepare<NameRow>(
			`select parent, typeof(name), cast(name as blob) from ${table} where ${condition}
			and (typeof(name)='blob' or name glob '*[^ -~]*') group by parent, name order by parent, name limit ${NAMES_AT_ONCE}`,
			'tuple',
		);
	let rows = page('true').all();
	for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
		yield* rows;
		const [parent, type, bytes] = last;
		rows = page(`(parent, name)>(?, ${type === 'text' ? 'cast(? as text)' : '?'})`).all(parent, bytes);
	}
}
