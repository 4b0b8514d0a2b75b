import {
	chmodSync,
	closeSync,
	existsSync,
	fsyncSync,
	lstatSync,
	mkdirSync,
	openSync,
	readdirSync,
	realpathSync,
	statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { decodeName, fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import { checkSessionId, isSessionId } from './session-id.ts';

/** Where the parts of one session lie. Nothing here is opened or locked. */
export interface SessionPlace {
	/** Its name in the store; for a file elsewhere, the file's name. */
	readonly id: string;
	/** The SQLite file. */
	readonly dbPath: string;
	/** What goes with it on this machine and never travels. */
	readonly sidePath: string;
	readonly lockPath: string;
	readonly ownerPath: string;
	readonly socketPath: string;
	/** The socket that is shown inside the sandbox. */
	readonly channelPath: string;
	readonly journalPath: string;
	readonly layersPath: string;
	/** The directory that holds nothing but this session, to be removed with it; null for a file elsewhere. */
	readonly ownDirectory: string | null;
}

/** The place of a session by its name in the store, whether it exists or not. Throws Refusal 'usage'. */
export function placeInStore(storePath: string, id: string): SessionPlace {
	const directory = join(storePath, 'sessions', checkSessionId(id));
	return placeOf(id, join(directory, 'session.db'), directory);
}

/**
 * The place of an existing session, by name or by the path of its file. A symlink leads to the file it names, so that one
 * session has one place. Throws Refusal 'invalid' when there is none, or when the file has a second name.
 */
export function findPlace(storePath: string, idOrPath: string): SessionPlace {
	if (!idOrPath.includes('/') && isSessionId(idOrPath)) {
		const place = placeInStore(storePath, idOrPath);
		if (sessionExists(place)) return place;
		throw new Refusal('invalid', 'no-such-session', `there is no session '${idOrPath}' in ${storePath}`, {
			hint: 'see `dropcloth ps`, or make one with `dropcloth init` or `dropcloth quick`',
		});
	}
	return placeOfFile(idOrPath);
}

/** Whether something lies where the session's file should be. */
export function sessionExists(place: SessionPlace): boolean {
	return lstatSync(fsPath(place.dbPath), { throwIfNoEntry: false }) !== undefined;
}

/** Names of the sessions in a store, sorted. */
export function sessionIds(storePath: string): string[] {
	try {
		const names = readdirSync(fsPath(join(storePath, 'sessions')));
		return names.filter((name) => isSessionId(name) && sessionExists(placeInStore(storePath, name))).sort();
	} catch (error) {
		if (errorCode(error) === 'ENOENT') return [];
		throw error;
	}
}

/** Makes the session's directories, 0700, so that they survive a power cut. */
export function makePlace(place: SessionPlace): void {
	makeDurableDirectory(dirname(place.dbPath));
	makeDurableDirectory(place.sidePath);
}

/**
 * Makes a directory and its parents where they are missing, 0700, and syncs each parent that got a new name. One at a time:
 * Node's own way to make all of them never ends where the kernel makes none, as in /proc.
 */
export function makeDurableDirectory(path: string): void {
	if (existsSync(fsPath(path))) return;
	const parent = dirname(path);
	makeDurableDirectory(parent);
	try {
		mkdirSync(fsPath(path), { mode: 0o700 });
	} catch (error) {
		// another command made it meanwhile
		if (errorCode(error) === 'EEXIST') return;
		throw error;
	}
	chmodSync(fsPath(path), 0o700);
	syncDirectory(parent);
}

/** Makes the names in a directory durable. */
export function syncDirectory(path: string): void {
	const fd = openSync(fsPath(path), 'r');
	try {
		fsyncSync(fd);
	} finally {
		closeSync(fd);
	}
}

function placeOfFile(path: string): SessionPlace {
	const missing = (cause: unknown) =>
		new Refusal('invalid', 'no-such-session', `there is no session file at ${path}`, { cause });
	try {
		const real = decodeName(realpathSync.native(fsPath(path), 'buffer'));
		const stat = statSync(fsPath(real));
		if (!stat.isFile()) {
			throw new Refusal(
				'invalid',
				'not-a-session',
				`${path} is ${stat.isDirectory() ? 'a directory' : 'a special file'}, not a session file`,
			);
		}
		if (stat.nlink > 1) {
			throw new Refusal('invalid', 'linked-session', `${path} has ${stat.nlink} names; a session file must have one`, {
				hint: 'copy it instead of linking it',
			});
		}
		return placeOf(basename(real), real, null);
	} catch (error) {
		if (error instanceof Refusal) throw error;
		throw missing(error);
	}
}

function placeOf(id: string, dbPath: string, ownDirectory: string | null): SessionPlace {
	const sidePath = `${dbPath}.d`;
	return {
		id,
		dbPath,
		sidePath,
		lockPath: join(sidePath, 'lock'),
		ownerPath: join(sidePath, 'owner.json'),
		socketPath: join(sidePath, 'control.sock'),
		channelPath: join(sidePath, 'channel.sock'),
		journalPath: join(sidePath, 'journal'),
		layersPath: join(sidePath, 'layers'),
		ownDirectory,
	};
}
