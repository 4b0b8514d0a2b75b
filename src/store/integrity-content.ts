import type { Database } from './driver.ts';
import { type CheckGroup, queryCheck, versionsOf } from './integrity-check.ts';
import { ORIGIN_CONTENT_BYTES } from './origins.ts';
import { sha256 } from './sha256.ts';

const missing = (table: string, id: string) => `not exists(select 1 from ${table} where ${id})`;

/** Claims about blobs and what names them. */
export const CONTENT_CHECKS: readonly CheckGroup[] = [
	queryCheck(
		'chunk.names_blob',
		'the blob of every chunk exists',
		`select 'chunk '||idx||' of inode '||ino||' names blob '||blob||', which does not exist'
		from ${versionsOf('chunk')} as chunk where ${missing('blob', 'id=chunk.blob')}`,
	),
	queryCheck(
		'chunk.blob_fits',
		'no blob is longer than a chunk of its file',
		`select 'chunk '||idx||' of inode '||ino||' names blob '||blob||', which is longer than a chunk'
		from (select distinct ino, idx, blob from ${versionsOf('chunk')}) as chunk join blob on blob.id=chunk.blob
		where size>(select max(chunk_bytes) from ${versionsOf('inode')} where ino=chunk.ino)`,
	),
	queryCheck(
		'chunk.blob_finished',
		'the blob of every chunk is sealed, or open to this chunk alone',
		`select 'chunk '||idx||' of inode '||ino||' names blob '||blob||', which is neither sealed nor its own'
		from ${versionsOf('chunk')} as chunk where ${missing('seal', 'blob=chunk.blob')}
		and ${missing('open', 'blob=chunk.blob and ino=chunk.ino and idx=chunk.idx')}`,
	),
	queryCheck(
		'blob.size',
		'a blob is as long as it says, and no longer than any content can be',
		`select 'blob '||id||' is '||length(data)||' bytes long and says '||size from blob
		where size<>length(data) or size>${ORIGIN_CONTENT_BYTES}`,
	),
	queryCheck(
		'seal.values',
		'a seal is a SHA-256 and names a blob that is not open',
		`select 'the seal '||hex(hash)||' of blob '||blob||' is not valid' from seal
		where typeof(hash)<>'blob' or length(hash)<>32 or ${missing('blob', 'id=seal.blob')}
		or blob in (select blob from open)`,
	),
	queryCheck(
		'open.values',
		'an open blob exists and was opened at the head or before',
		`select 'the open blob '||blob||' is not valid' from open
		where ${missing('blob', 'id=open.blob')} or born not between 1 and (select head from head) or idx<0`,
	),
	queryCheck(
		'origin.names_blob',
		'the blob of every origin exists and is sealed',
		`select 'an origin of root '||root||' names blob '||blob||', which does not exist' from origin
		where blob is not null and (${missing('blob', 'id=origin.blob')} or ${missing('seal', 'blob=origin.blob')})`,
	),
	{
		checks: [{ name: 'blob.hash', what: 'every sealed blob hashes to its seal' }],
		*find(db) {
			for (const [id, hash] of sealedBlobs(db)) {
				const data = db.prepare<Buffer>('select data from blob where id=?', 'value').get(id);
				if (data !== undefined && !sha256(data).equals(hash)) {
					yield { check: 'blob.hash', message: `blob ${id} does not hash to ${hash.toString('hex')}` };
				}
			}
		},
	},
];

const BLOBS_AT_ONCE = 2000;

/** In the order of their rows; without those that are too long to be read, which blob.size reports. */
function* sealedBlobs(db: Database): Generator<[id: number, hash: Buffer]> {
	const page = db.prepare<[number, Buffer]>(
		`select blob.id, seal.hash from blob cross join seal on seal.blob=blob.id
		where blob.id>? and length(blob.data)<=${ORIGIN_CONTENT_BYTES} order by blob.id limit ${BLOBS_AT_ONCE}`,
		'tuple',
	);
	let rows = page.all(Number.MIN_SAFE_INTEGER);
	for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
		yield* rows;
		rows = page.all(last[0]);
	}
}
