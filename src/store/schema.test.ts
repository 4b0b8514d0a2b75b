import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inode } from '../../test/support/file-content.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { PLAIN_TABLES, VERSIONED_TABLES } from './schema.ts';
import { Store } from './store.ts';

let place: TemporaryDirectory;
let store: Store;
let root: number;
beforeEach(() => {
	place = temporaryDirectory();
	store = Store.create(place.join('s.db'));
	root = store.write(() => {
		const { ino } = store.tree.addRoot('project', null);
		store.tree.put(ino, 'f', inode('file', { xattrs: new Map([['user.a', Buffer.from('1')]]) }));
		store.tree.write(2, 0, Buffer.from('x'));
		store.tree.snapshot({ trigger: 'start', created: { sec: 1, nsec: 0 } });
		return ino;
	});
});
afterEach(() => {
	store.close();
	place[Symbol.dispose]();
});

/** The first and the last snapshot-to-be of each past row of a name. */
function past(table: string): unknown[] {
	return store.db.prepare(`select born, died from ${table}_past`, 'tuple').all();
}

describe('the triggers keep history from a writer who does not think of it', () => {
	test.each(VERSIONED_TABLES.map(({ name }) => name))('%s: no row gets another born than the head', (table) => {
		const { db } = store;
		const other = { inode: 'mode = mode + 1', entry: 'ino = 0', chunk: 'blob = 9', xattr: "value = x'ff'" }[table];
		const abort = `${table}.born must be the head`;
		expect(() => db.exec(`update ${table} set ${other}`)).toThrow(abort);
		expect(() => db.exec(`update or ignore ${table} set ${other}`)).toThrow(abort);
		expect(() => db.exec(`update ${table} set ${other}, born = 3`)).toThrow(abort);
		const columns = VERSIONED_TABLES.find(({ name }) => name === table)?.columns.map((column) => column.name) ?? [];
		const copy = columns.map((column) =>
			column === 'born' ? '1' : column === 'name' ? "'new'" : column === 'value' ? column : `${column} + 7`,
		);
		expect(() => db.exec(`insert into ${table} select ${copy.join(', ')} from ${table}`)).toThrow(abort);
		expect(past(table)).toEqual([]);
		db.exec(`update ${table} set ${other}, born = 2`);
		expect(past(table)).toContainEqual([1, 2]);
	});

	test('a replaced row becomes history, since every connection has recursive triggers', () => {
		store.db.exec(`insert or replace into entry(parent, name, born, ino) values(${root}, 'f', 2, 0)`);
		expect(past('entry')).toEqual([[1, 2]]);
	});

	test('a deleted row becomes history, once', () => {
		store.db.exec('delete from xattr');
		expect(past('xattr')).toEqual([[1, 2]]);
		store.db.exec("insert into xattr(ino, name, born, value) values(2, 'user.a', 2, x'00'); delete from xattr");
		expect(past('xattr')).toEqual([[1, 2]]);
	});

	test('sealing alone repoints and removes chunks without a version, and other tables never', () => {
		store.db.exec('update head set sealing = 1; update chunk set blob = 9');
		expect(past('chunk')).toEqual([]);
		expect(() => store.db.exec('update inode set size = 9')).toThrow('inode.born');
		store.db.exec('delete from chunk');
		expect(past('chunk')).toEqual([]);
	});

	test('a name is text or bytes, never a number', () => {
		expect(() => store.db.exec(`insert into entry(parent, name, born, ino) values(${root}, 5, 2, 2)`)).toThrow('CHECK');
		store.db.exec(`insert into entry(parent, name, born, ino) values(${root}, '1e3', 2, 2)`);
		expect(store.tree.at('now').children(root)).toEqual([
			['1e3', 2],
			['f', 2],
		]);
	});
});

test('the file has the tables that are declared, strict, and no other', () => {
	const tables = store.db
		.prepare<[string, number]>(
			"select name, strict from pragma_table_list where schema = 'main' and type = 'table'",
			'tuple',
		)
		.all()
		.filter(([name]) => !name.startsWith('sqlite_'));
	const declared = [...PLAIN_TABLES, ...VERSIONED_TABLES].map(({ name }) => name);
	const withPast = [...declared, ...VERSIONED_TABLES.map(({ name }) => `${name}_past`)];
	expect(tables.map(([name]) => name).sort()).toEqual(withPast.sort());
	expect(tables.filter(([, strict]) => strict !== 1)).toEqual([]);
});
