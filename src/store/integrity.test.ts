import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LayerRig } from '../../test/support/layer-rig.ts';
import { Refusal } from '../base/refusal.ts';
import { type Database, openDatabase } from './driver.ts';
import { checkIntegrity, INTEGRITY_CHECKS } from './integrity.ts';
import { PAGE_BYTES, schemaStatements } from './schema.ts';

/** A session with some history, in which every kind of row occurs. Snapshots 1 to 3; `d` is inode 2 and `d/f` inode 3. */
function filledRig(): LayerRig {
	const rig = new LayerRig();
	rig.put('d', { kind: 'directory', mode: 0o700, xattr: 'x' });
	rig.put('d/f', { kind: 'file', content: 'some content', mode: 0o600, xattr: 'x' });
	rig.put('l', { kind: 'symlink', target: 't' });
	rig.snapshot('one');
	rig.put('d/f', { kind: 'file', content: 'other', mode: 0o640 });
	rig.link('d/f', 'd/g');
	rig.put('w', { kind: 'whiteout' });
	rig.snapshot();
	rig.remove('d/g');
	rig.put('e', { kind: 'directory', mode: 0o755, opaque: true });
	rig.put('e/f', { kind: 'file', content: 'third', mode: 0o600 });
	rig.rename('d', 'e/d');
	rig.snapshot();
	rig.put('e/d/f', { kind: 'file', content: 'x', mode: 0o600 });
	return rig;
}

/** Changes rows with the triggers away, as no writer of ours can. */
function vandalise(rig: LayerRig, sql: string): void {
	const triggers = schemaStatements().filter((statement) => statement.startsWith('create trigger'));
	for (const trigger of triggers) rig.db.exec(`drop trigger ${trigger.split(' ')[2]}`);
	rig.db.exec(`pragma ignore_check_constraints=on; ${sql}; pragma ignore_check_constraints=off`);
	for (const trigger of triggers) rig.db.exec(trigger);
}

/** Names of the checks that find something. */
function foundIn(rig: LayerRig): string[] {
	return checkIntegrity(rig)
		.checks.filter(({ found }) => found > 0)
		.map(({ name }) => name);
}

/** The columns of an inode from size on. */
const NEW_INODE = '0,0,0,0,0,0,0,0,null,0,65536';

/** For each check, what somebody did to the file. Other checks may find it, too. */
const DAMAGE: readonly [check: string, sql: string][] = [
	['schema.objects', 'create trigger evil after insert on run begin delete from snapshot; end'],
	['schema.objects', 'drop index entry_ino'],
	['schema.objects', 'create view files as select 1'],
	['row.numbers', 'update inode set size=9007199254740993 where ino=3'],
	['row.numbers', 'update chunk_past set idx=-9223372036854775808 where idx=0'],
	['row.numbers', 'update snapshot set created=9223372036854775807'],
	['inode.mode', 'update inode set mode=420 where ino=3'],
	['inode.mode', 'update inode set mode=mode+65536 where ino=3'],
	['inode.values', 'update inode_past set mtime_ns=1000000000'],
	['inode.values', 'update inode set size=-1 where ino=3'],
	['inode.target', "update inode set target='x' where ino=3"],
	['inode.target', 'update inode set target=5 where mode & 61440=40960'],
	['inode.target', 'update inode set target=null'],
	['inode.opaque', 'update inode set opaque=1 where ino=3'],
	['inode.chunk_bytes', 'update inode set chunk_bytes=0 where ino=3'],
	['inode.chunk_bytes', 'update inode_past set chunk_bytes=3 where ino=3'],
	['entry.numbers', 'update entry set ino=-1'],
	['entry.name_valid', "update entry set name='..' where ino=3"],
	['entry.name_valid', "update entry set name='a/b' where ino=3"],
	['entry.name_valid', "update entry_past set name='a'||char(0)||'b'"],
	['entry.name_valid', "update entry set name='' where ino=3"],
	['entry.name_encoding', "update entry set name=cast(x'61ff' as text) where ino=3"],
	['entry.name_encoding', "update entry set name=x'6162' where ino=3"],
	['xattr.values', "update xattr set name=''"],
	['chunk.index', 'update chunk set idx=-5 where idx=0'],
	['origin.values', "insert into origin values(1,'p','file',0,0,0,0,0,0,null,x'00',null,1)"],
	['origin.values', "insert into origin values(77,'p','absent',0,0,0,0,0,0,null,null,null,1)"],
	['run.values', "insert into run(argv,cwd,started,started_ns,backend) values('{','/',0,0,'kernel')"],
	['applied.values', "insert into applied values(1,0,0,'done',1,99,'[]')"],
	['head.row', 'delete from head'],
	['head.row', 'update head set position=99'],
	['head.ahead', 'update head set head=2'],
	['head.ahead', 'update entry set born=50'],
	['head.next_ino', 'update head set next_ino=3'],
	['snapshot.values', "update snapshot set tag='12' where id=2"],
	['snapshot.values', "update snapshot set trigger='whim'"],
	['snapshot.parent', 'update snapshot set parent=3 where id=2'],
	['snapshot.parent', 'update snapshot set parent=0 where id=2'],
	['root.directory', "update root set role='attic'"],
	['root.directory', "insert into root values(2,'home','/home')"],
	['inode.root', 'update inode set root=2 where ino=3'],
	['inode.root', 'update inode set root=99; update inode_past set root=99'],
	['history.intervals', 'update inode_past set born=1 where ino=3'],
	['history.intervals', 'update chunk set born=1 where ino=3'],
	['chunk.names_blob', 'update chunk set blob=999'],
	['chunk.names_blob', 'update chunk_past set blob=999'],
	['chunk.blob_fits', 'update inode set chunk_bytes=1; update inode_past set chunk_bytes=1'],
	['chunk.blob_finished', 'delete from seal where blob=1'],
	['chunk.blob_finished', 'delete from seal where blob=1; insert into open values(1,77,0,1)'],
	['blob.size', 'update blob set size=size+1 where id=1'],
	['blob.size', 'update blob set size=2000000, data=zeroblob(2000000) where id=1'],
	['seal.values', 'update seal set blob=999 where blob=1'],
	['seal.values', "update seal set hash=x'00' where blob=1"],
	['seal.values', 'insert into open values(1,3,0,1)'],
	['open.values', 'insert into open values(999,3,0,1)'],
	['open.values', 'insert into open values(1,3,0,50)'],
	['origin.names_blob', "insert into origin values(1,'p','file',0,0,0,0,0,0,null,null,999,1)"],
	['blob.hash', "update blob set data=x'41414141' where id=1"],
	['entry.target_exists', 'update entry set ino=999 where ino=3'],
	['entry.target_exists', 'delete from inode_past where ino=3 and born=1'],
	['entry.parent_is_directory', 'update entry set parent=3 where ino=3'],
	['entry.parent_is_directory', 'update entry_past set parent=888'],
	['inode.nlink', 'update inode set nlink=2 where ino=3'],
	['inode.nlink', 'update inode_past set nlink=1 where nlink=2'],
	['inode.nlink', 'delete from entry where ino=3'],
	['directory.one_name', "insert into entry values(1,'again',4,2)"],
	['directory.reachable', 'update entry set parent=2 where ino=2'],
	['directory.reachable', 'delete from entry where ino=2'],
	[
		'entry.same_root',
		`insert into root values(500,'home',null); insert into inode values(500,1,500,16877,1,0,0,${NEW_INODE});
		insert into inode values(501,4,500,33188,1,0,0,${NEW_INODE}); insert into entry values(2,'stray',4,501)`,
	],
	['chunk.of_file', 'update inode set mode=16832 where ino=3'],
	['chunk.of_file', "update inode set mode=41471, target='t' where ino=3"],
	['chunk.within_size', 'update inode set size=0 where ino=3'],
	['chunk.within_size', 'update inode_past set size=4 where ino=3'],
	['xattr.of_inode', 'update xattr set ino=999'],
];

describe('checkIntegrity', () => {
	it('finds nothing in a sound file', () => {
		using rig = filledRig();
		const { ok, checks } = checkIntegrity(rig);
		expect(checks.filter(({ found, ran }) => found > 0 || !ran)).toEqual([]);
		expect(ok).toBe(true);
		expect(checks.map(({ name }) => name)).toEqual(INTEGRITY_CHECKS.map(({ name }) => name));
	});

	it.each(DAMAGE)('%s finds: %s', (check, sql) => {
		using rig = filledRig();
		vandalise(rig, sql);
		expect(foundIn(rig)).toContain(check);
		expect(checkIntegrity(rig).ok).toBe(false);
	});

	it('has a test of damage for every check that reports any', () => {
		const tested = new Set([...DAMAGE.map(([check]) => check), 'pragma.integrity_check']);
		const damage = INTEGRITY_CHECKS.filter(({ harmless }) => harmless !== true);
		expect(damage.map(({ name }) => name).filter((name) => !tested.has(name))).toEqual([]);
	});

	it('gives every check a name of its own', () => {
		expect(new Set(INTEGRITY_CHECKS.map(({ name }) => name)).size).toBe(INTEGRITY_CHECKS.length);
	});

	it('reports damage that SQLite sees and looks no further', () => {
		using rig = filledRig();
		vandalise(rig, 'update chunk_past set died=born where ino=3 and idx=0');
		const { ok, checks } = checkIntegrity(rig);
		expect(checks.filter(({ found }) => found > 0).map(({ name }) => name)).toEqual(['pragma.integrity_check']);
		expect(checks.filter(({ ran }) => !ran).length).toBeGreaterThan(10);
		expect(ok).toBe(false);
	});

	it('ends on a file with pages overwritten anywhere, and finds those that matter', () => {
		using rig = filledRig();
		const path = join(dirname(rig.db.path), 'copy.db');
		rig.db.prepare('vacuum into ?').run(path);
		const sound = readFileSync(path);
		let found = 0;
		for (let page = 0; page < sound.length / PAGE_BYTES; page++) {
			for (const [offset, length] of [
				[0, 16],
				[0, PAGE_BYTES],
				[PAGE_BYTES - 300, 300],
			] as const) {
				const start = page * PAGE_BYTES + (page === 0 ? Math.max(offset, 100) : offset);
				writeFileSync(path, Buffer.from(sound).fill(0xff, start, Math.min(start + length, (page + 1) * PAGE_BYTES)));
				found += checkFile(path).ok ? 0 : 1;
			}
		}
		expect(found).toBeGreaterThan((2 * sound.length) / PAGE_BYTES);
	});

	it('does not look at the rows of a table that is really a view without end', () => {
		using rig = filledRig();
		rig.db.exec('drop table run');
		rig.db.exec('create view run as with recursive n(i) as (select 1 union all select i+1 from n) select * from n');
		expect(foundIn(rig)).toEqual(['schema.objects']);
	});

	it('ends on a loop of a hundred thousand directories', () => {
		using rig = filledRig();
		const count = 100_000;
		const numbers = `with recursive n(i) as (select 1000 union all select i+1 from n where i<${1000 + count})`;
		vandalise(
			rig,
			`insert into inode ${numbers} select i,4,1,16877,1,0,0,${NEW_INODE} from n;
			insert into entry ${numbers} select i,'x',4,case when i=${1000 + count} then 1000 else i+1 end from n`,
		);
		const report = checkIntegrity(rig).checks.find(({ name }) => name === 'directory.reachable');
		expect(report?.messages[0]).toContain('loop of directories');
	});

	it('counts no more than it must of damage that is everywhere', () => {
		using rig = filledRig();
		const numbers = 'with recursive n(i) as (select 1 union all select i+1 from n where i<30000)';
		vandalise(rig, `insert into chunk ${numbers} select 3,i+100,4,i+1000000 from n`);
		const report = checkIntegrity(rig).checks.find(({ name }) => name === 'chunk.names_blob');
		expect(report?.found).toBe(10_000);
		expect(report?.messages.length).toBe(20);
	});

	it('removes what is provably redundant when told to repair, and nothing else', () => {
		using rig = filledRig();
		rig.write(() => rig.blobs.put(Buffer.from('of nobody')));
		rig.db.exec('delete from snapshot where id=2');
		rig.db.exec('update snapshot set parent=1 where id=3');
		vandalise(rig, 'update inode set nlink=9 where ino=3');
		const dumps = [1, 3, 'now' as const].map((state) => rig.dump(state));
		expect(foundIn(rig)).toEqual(['inode.nlink', 'history.held', 'blob.named']);

		const repaired = checkIntegrity(rig, { repair: true }).checks.filter((check) => check.repaired > 0);
		expect(repaired.map(({ name }) => name)).toEqual(['history.held', 'blob.named']);

		expect(foundIn(rig)).toEqual(['inode.nlink']);
		expect([1, 3, 'now' as const].map((state) => rig.dump(state))).toEqual(dumps);
	});

	it('calls a file with mere leftovers sound', () => {
		using rig = filledRig();
		rig.write(() => rig.blobs.put(Buffer.from('of nobody')));
		const { ok, checks } = checkIntegrity(rig);
		expect(ok).toBe(true);
		expect(checks.find(({ name }) => name === 'blob.named')?.messages).toEqual(['nothing names blob 9 of 9 bytes']);
	});
});

/** Checks a file that nobody else has open; one that can't even be opened is not sound either. */
function checkFile(path: string): { ok: boolean } {
	let db: Database;
	try {
		db = openDatabase(path, { readOnly: true });
	} catch (error) {
		if (error instanceof Refusal) return { ok: false };
		throw error;
	}
	try {
		const unused = () => {
			throw new Error('a check must not write');
		};
		return checkIntegrity({ db, read: (action) => action(), write: unused });
	} finally {
		db.close();
	}
}
