import { closeSync, constants, fsyncSync, linkSync, openSync, rmSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import type { Database, DatabaseOpener, OpenOptions } from './driver.ts';
import { storeFailure } from './driver-error.ts';
import { APPLICATION_ID, PAGE_BYTES, SCHEMA_VERSION, schemaStatements } from './schema.ts';

/**
 * Makes an empty session file, mode 0600. It is complete and on disk when its name appears, and a name that is taken
 * stays as it is. `fill` puts in the first rows.
 *
 * Throws Refusal `failed` when something of that name exists, `full` when the disk is.
 */
export function createSessionFile(
	path: string,
	open: DatabaseOpener,
	options: OpenOptions,
	fill: (db: Database) => void,
): void {
	const draft = `${path}.new-${process.pid}`;
	removeDraft(draft);
	try {
		reserveSessionFile(draft);
		const db = open(draft, options);
		try {
			writeSchema(db, fill);
		} finally {
			db.close();
		}
		publish(draft, path);
	} catch (error) {
		throw storeFailure(error, path);
	} finally {
		removeDraft(draft);
	}
}

/**
 * Makes an empty file, mode 0600, for SQLite to fill: it gives -wal and -shm the mode that the file has.
 * Throws Refusal `failed` when something of that name exists.
 */
export function reserveSessionFile(path: string): void {
	try {
		closeSync(openSync(fsPath(path), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
	} catch (error) {
		throw errorCode(error) === 'EEXIST' ? taken(path, error) : storeFailure(error, path);
	}
}

/**
 * Opens a session file after having looked whether it is one that this version can read.
 *
 * Throws Refusal `invalid`, with the path: nothing there, no regular file, no database, damaged, not a session, of a newer
 * or an older schema.
 */
export function openSessionFile(path: string, open: DatabaseOpener, options: OpenOptions): Database {
	checkRegularFile(path);
	const db = open(path, options);
	try {
		checkIdentity(db, path);
		return db;
	} catch (error) {
		db.close();
		throw error;
	}
}

function writeSchema(db: Database, fill: (db: Database) => void): void {
	db.exec(`pragma page_size=${PAGE_BYTES}; pragma auto_vacuum=incremental; pragma journal_mode=wal`);
	db.exec('begin immediate');
	for (const statement of schemaStatements()) db.exec(statement);
	db.exec(`pragma application_id=${APPLICATION_ID}; pragma user_version=${SCHEMA_VERSION}`);
	fill(db);
	db.exec('commit');
	db.exec('pragma wal_checkpoint(truncate)');
}

/** A link, unlike a rename, never replaces what is there. */
function publish(draft: string, path: string): void {
	syncPath(draft, constants.O_RDONLY);
	try {
		linkSync(fsPath(draft), fsPath(path));
	} catch (error) {
		throw errorCode(error) === 'EEXIST' ? taken(path, error) : error;
	}
	rmSync(fsPath(draft));
	syncPath(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
}

/** Of a file that no connection has open. */
function syncPath(path: string, flags: number): void {
	const descriptor = openSync(fsPath(path), flags);
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

function removeDraft(draft: string): void {
	for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(fsPath(draft + suffix), { force: true });
}

function checkRegularFile(path: string): void {
	const stat = statOf(path);
	if (stat.isFile()) return;
	const what = stat.isDirectory() ? 'is a directory' : 'is not a regular file';
	throw new Refusal('invalid', 'store-not-a-file', `${what}, not a session file: ${path}`, {
		hint: 'name the session.db itself',
	});
}

function statOf(path: string): Stats {
	try {
		return statSync(fsPath(path));
	} catch (error) {
		throw missing(path, error);
	}
}

function taken(path: string, cause: unknown): Refusal {
	return new Refusal('failed', 'store-exists', `already exists: ${path}`, {
		hint: 'choose another name, or remove it first',
		cause,
	});
}

function missing(path: string, cause: unknown): Refusal {
	const code = errorCode(cause);
	const what = code === 'ENOENT' || code === 'ENOTDIR' ? 'no such session file' : `cannot read (${code ?? 'error'})`;
	return new Refusal('invalid', 'store-missing', `${what}: ${path}`, {
		hint: 'check the path; `dropcloth list` shows the sessions there are',
		cause,
	});
}

function checkIdentity(db: Database, path: string): void {
	const application = db.pragma('application_id');
	const version = db.pragma('user_version');
	if (application !== APPLICATION_ID) {
		throw new Refusal('invalid', 'store-not-a-session', `a SQLite file, but not a session of Dropcloth: ${path}`, {
			hint: 'name a session.db',
		});
	}
	if (typeof version === 'number' && version === SCHEMA_VERSION) return;
	const newer = Number(version) > SCHEMA_VERSION;
	throw new Refusal(
		'invalid',
		newer ? 'store-newer' : 'store-older',
		`schema version ${version}, and this program writes version ${SCHEMA_VERSION}: ${path}`,
		{ hint: newer ? 'use a newer dropcloth' : 'bring it up to date with `dropcloth migrate`' },
	);
}
