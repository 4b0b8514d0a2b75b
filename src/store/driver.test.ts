import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { inode } from '../../test/support/file-content.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { Refusal } from '../base/refusal.ts';
import { openDatabase } from './driver.ts';
import { Store } from './store.ts';

/** The refusal that opening a file ends with. */
function refusalOf(action: () => unknown): Refusal {
	try {
		action();
	} catch (error) {
		if (error instanceof Refusal) return error;
		throw error;
	}
	throw new Error('was not refused');
}

describe('a file that is no session is refused with its name', () => {
	let place: TemporaryDirectory;
	beforeEach(() => {
		place = temporaryDirectory();
		return () => place[Symbol.dispose]();
	});

	function sessionFile(): string {
		const path = place.join('session.db');
		const store = Store.create(path);
		store.write(() => {
			const root = store.tree.addRoot('project', null).ino;
			for (let at = 0; at < 2000; at++) store.tree.put(root, `file-${at}`, inode('file'));
		});
		store.close();
		return path;
	}

	test.each<[what: string, code: string, make: () => string]>([
		['nothing there', 'store-missing', () => place.join('nothing.db')],
		['a file as a directory of the way', 'store-missing', () => `${place.write('file', '')}/session.db`],
		[
			'a directory',
			'store-not-a-file',
			() => {
				mkdirSync(place.join('directory'));
				return place.join('directory');
			},
		],
		[
			'a FIFO',
			'store-not-a-file',
			() => {
				execFileSync('mkfifo', [place.join('fifo')]);
				return place.join('fifo');
			},
		],
		['garbage', 'store-not-a-database', () => place.write('garbage', 'not a database '.repeat(5000))],
		['an empty file', 'store-not-a-session', () => place.write('empty', '')],
		[
			'another program’s database',
			'store-not-a-session',
			() => {
				const db = openDatabase(place.join('other.db'), { create: true });
				db.exec('create table t(a)');
				db.close();
				return db.path;
			},
		],
		[
			'half of a session',
			'store-damaged',
			() => {
				const path = sessionFile();
				truncateSync(path, Math.floor(readFileSync(path).length / 16_384) * 8192);
				return path;
			},
		],
		[
			'the first 50 bytes of a session',
			'store-damaged',
			() => {
				const path = sessionFile();
				truncateSync(path, 50);
				return path;
			},
		],
		[
			'a file name that the engine would trim',
			'store-name',
			() => {
				const path = sessionFile();
				writeFileSync(`${path} `, readFileSync(path));
				return `${path} `;
			},
		],
	])('%s', (_, code, make) => {
		const path = make();
		for (const role of ['reader', 'tree'] as const) {
			const refusal = refusalOf(() => Store.open(path, role));
			expect(refusal).toMatchObject({ kind: 'invalid', code });
			expect(refusal.message).toContain(place.path);
			expect(refusal.hint).not.toBeNull();
		}
	});

	test('a newer schema, with both versions', () => {
		const path = sessionFile();
		const db = openDatabase(path);
		db.exec('pragma user_version=7');
		db.close();
		expect(refusalOf(() => Store.open(path, 'tree'))).toMatchObject({ kind: 'invalid', code: 'store-newer' });
		expect(refusalOf(() => Store.open(path, 'tree')).message).toMatch(/version 7.*version 1/);
	});

	test('an older schema, which migrate is for', () => {
		const path = sessionFile();
		const db = openDatabase(path);
		db.exec('pragma user_version=0');
		db.close();
		expect(refusalOf(() => Store.open(path, 'tree'))).toMatchObject({ kind: 'invalid', code: 'store-older' });
	});
});

test('an encrypted file opens with its key alone, and shows nothing without', () => {
	using place = temporaryDirectory();
	const path = place.join('secret.db');
	const store = Store.create(path, { sessionId: 'plain text marker' }, { key: "it's a key" });
	expect(store.config.get('sessionId')).toBe('plain text marker');
	store.copyTo(place.join('copy.db'));
	store.close();
	for (const name of ['secret.db', 'copy.db']) {
		const file = place.join(name);
		expect(readFileSync(file).includes('plain text marker')).toBe(false);
		expect(refusalOf(() => Store.open(file, 'reader')).code).toBe('store-not-a-database');
		expect(refusalOf(() => Store.open(file, 'reader', { key: 'wrong' })).code).toBe('store-not-a-database');
		const opened = Store.open(file, 'reader', { key: "it's a key" });
		expect(opened.config.get('sessionId')).toBe('plain text marker');
		opened.close();
	}
});

test('a store works below a directory whose name is not UTF-8, and one with spaces, quotes and a newline', () => {
	using place = temporaryDirectory();
	execFileSync('sh', ['-c', `mkdir "$1/$(printf 'x\\377')"`, 'sh', place.path]);
	mkdirSync(place.join(' a\'b"\n ?#%20'));
	for (const directory of ['x\udcff', ' a\'b"\n ?#%20']) {
		const path = place.join(directory, 'session.db');
		const store = Store.create(path, { sessionId: 'here' });
		store.write(() => store.tree.addRoot('project', null));
		store.durable();
		store.close();
		const reader = Store.open(path, 'reader');
		expect(reader.config.get('sessionId')).toBe('here');
		expect(reader.tree.roots()).toHaveLength(1);
		reader.close();
	}
});

test('every connection keeps history when a row is replaced, waits for locks, and has the settings of the file', () => {
	using place = temporaryDirectory();
	const store = Store.create(place.join('session.db'));
	store.close();
	for (const role of ['reader', 'log', 'tree'] as const) {
		const { db, ...opened } = Store.open(store.path, role);
		expect(db.pragma('recursive_triggers')).toBe(1);
		expect(db.pragma('busy_timeout')).toBe(5000);
		expect(db.pragma('synchronous')).toBe(1);
		expect(db.pragma('cache_size')).toBe(-65_536);
		expect(db.pragma('journal_mode')).toBe('wal');
		expect(db.pragma('page_size')).toBe(8192);
		expect(db.pragma('auto_vacuum')).toBe(2);
		expect(opened).toBeDefined();
		db.close();
	}
});
