import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inode } from '../../test/support/file-content.ts';
import { PROJECT } from '../../test/support/source-files.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { watchedDriver } from '../../test/support/watched-driver.ts';
import { Store } from './store.ts';

let place: TemporaryDirectory;
let store: Store;
beforeEach(() => {
	place = temporaryDirectory();
	store = Store.create(place.join('session.db'), { sessionId: 'abc', created: '2026-01-01T00:00:00.000000000Z' });
});
afterEach(() => {
	store.close();
	place[Symbol.dispose]();
});

describe('creating', () => {
	test('makes one file, readable by its owner alone, and so are -wal and -shm', () => {
		store.write(() => store.tree.addRoot('project', '/base'));
		expect(readdirSync(place.path).sort()).toEqual(['session.db', 'session.db-shm', 'session.db-wal']);
		for (const name of readdirSync(place.path)) expect(statSync(place.join(name)).mode & 0o777).toBe(0o600);
	});

	test('keeps the facts it was given', () => {
		expect([...store.config.entries()]).toEqual([
			['created', '2026-01-01T00:00:00.000000000Z'],
			['sessionId', 'abc'],
		]);
	});

	test('refuses a name that is taken, and leaves what is there', () => {
		expect(() => Store.create(store.path)).toThrow('already exists');
		expect(Store.open(store.path, 'reader').config.get('sessionId')).toBe('abc');
		expect(readdirSync(place.path).filter((name) => name.includes('new'))).toEqual([]);
	});

	test('leaves nothing behind when it fails', () => {
		const path = place.join('other.db');
		const driver = watchedDriver((sql) => {
			if (sql.startsWith('create trigger')) throw new Error('injected');
		});
		expect(() => Store.create(path, {}, { driver })).toThrow('injected');
		expect(readdirSync(place.path).filter((name) => name.startsWith('other'))).toEqual([]);
	});
});

describe('a transaction', () => {
	test('is kept whole or not at all', () => {
		expect(() =>
			store.write(() => {
				store.tree.addRoot('project', null);
				store.config.set('pin', 'x');
				throw new Error('no');
			}),
		).toThrow('no');
		expect(store.tree.roots()).toEqual([]);
		expect(store.config.get('pin')).toBeNull();
		expect(store.write(() => store.tree.addRoot('project', null).ino)).toBe(1);
	});

	test('is not kept when a part of it failed, even if the failure was caught', () => {
		expect(() =>
			store.write(() => {
				store.config.set('pin', 'x');
				try {
					store.write(() => {
						throw new Error('part');
					});
				} catch {
					// as a careless caller would
				}
			}),
		).toThrow('part');
		expect(store.config.get('pin')).toBeNull();
	});

	test('is not left open by an asynchronous action', () => {
		expect(() => store.write(async () => store.config.set('pin', 'x'))).toThrow('asynchronous');
		expect(store.config.get('pin')).toBeNull();
	});

	test('belongs to a writer: the tree is not written without one, nor within a read', () => {
		expect(() => store.tree.addRoot('project', null)).toThrow('Store.write');
		expect(() => store.read(() => store.write(() => 1))).toThrow('inside Store.read');
		expect(() => store.write(() => store.durable())).toThrow('inside a transaction');
	});

	test('of a reader does not see what is committed meanwhile', () => {
		const reader = Store.open(store.path, 'reader');
		reader.read(() => {
			expect(reader.config.get('pin')).toBeNull();
			store.write(() => store.config.set('pin', 'x'));
			expect(reader.config.get('pin')).toBeNull();
		});
		expect(reader.config.get('pin')).toBe('x');
		reader.close();
	});
});

test('a reader can write nothing', () => {
	const reader = Store.open(store.path, 'reader');
	expect(() => reader.write(() => reader.config.set('pin', 'x'))).toThrow('may only be read');
	reader.close();
});

test('changed says whether another connection has committed', () => {
	const other = Store.open(store.path, 'log');
	expect(store.changed()).toBe(false);
	store.write(() => store.config.set('pin', 'a'));
	expect(store.changed()).toBe(false);
	other.write(() => other.config.set('pin', 'b'));
	expect(store.changed()).toBe(true);
	expect(store.changed()).toBe(false);
	other.close();
});

test('a copy is a whole session of its own', () => {
	store.write(() => store.tree.put(store.tree.addRoot('project', null).ino, 'f', inode('file')));
	const path = place.join('copy.db');
	store.copyTo(path);
	expect(() => store.copyTo(path)).toThrow('already exists');
	expect(statSync(path).mode & 0o777).toBe(0o600);
	const copy = Store.open(path, 'tree');
	expect(copy.tree.at('now').resolve(1, 'f')).toBe(2);
	expect(copy.db.pragma('auto_vacuum')).toBe(2);
	expect(copy.db.pragma('page_size')).toBe(8192);
	copy.close();
});

test('closing the tree leaves one file that holds everything', () => {
	store.write(() => store.config.set('pin', 'last'));
	store.close();
	expect(readdirSync(place.path)).toEqual(['session.db']);
	store = Store.open(store.path, 'tree');
	expect(store.config.get('pin')).toBe('last');
});

/** Runs a program of test/support in a process of its own, with the store's path as its argument. */
function otherProcess(program: string): string {
	const command = [join(PROJECT, 'tools/run-ts.mjs'), join(PROJECT, 'test/support', program), store.path];
	const { stdout, stderr, status } = spawnSync(process.execPath, command, { encoding: 'utf8' });
	if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
	return stdout.trim();
}

describe('durable', () => {
	test('keeps the locks: no other process gets in while a transaction is open, and none loses a commit', () => {
		store.write(() => store.config.set('pin', 'mine'));
		for (let round = 0; round < 3; round++) store.durable();
		// While this transaction is open, another process must wait for it in vain.
		expect(store.write(() => otherProcess('try-to-write.ts'))).toBe('store-busy');
		store.durable();
		expect(otherProcess('try-to-write.ts')).toBe('written');
		expect(store.config.get('pin')).toBe('theirs');
		store.write(() => store.config.set('pin', 'mine again'));
		store.durable();
		expect(otherProcess('read-pin.ts')).toBe('mine again');
	}, 30_000);

	test('leaves the -wal to a process that closed its connection meanwhile', () => {
		store.write(() => store.config.set('pin', 'mine'));
		store.durable();
		// Without its locks, the last one to close would fold the -wal and remove it from under this process.
		expect(otherProcess('try-to-write.ts')).toBe('written');
		expect(readdirSync(place.path)).toContain('session.db-wal');
		store.write(() => store.config.set('pin', 'after'));
		store.durable();
		expect(otherProcess('read-pin.ts')).toBe('after');
	}, 30_000);

	test('finds the descriptor again when the connection that owned it is closed', () => {
		const other = Store.open(store.path, 'log');
		other.write(() => other.config.set('pin', 'x'));
		store.durable();
		other.close();
		store.write(() => store.config.set('pin', 'y'));
		store.durable();
	});

	test('has nothing to do when everything is in the file', () => {
		store.close();
		store = Store.open(store.path, 'tree');
		store.durable();
	});
});
