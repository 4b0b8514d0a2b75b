import { isWithin } from '../base/paths.ts';
import { Refusal } from '../base/refusal.ts';
import { type Database, openDatabase } from '../store/driver.ts';
import { readRoots } from '../store/roots.ts';
import { openSessionFile } from '../store/session-file.ts';
import { realDirectory } from './base-directory.ts';
import { knownBase } from './known-base.ts';
import { findPlace, placeInStore, type SessionPlace, sessionIds } from './session-place.ts';

/** What a user may have said about which session is meant. */
export interface SessionChoice {
	readonly storePath: string;
	/** A name, a path, `.` for this directory's, or null when nothing was said. */
	readonly given: string | null;
	/** $DROPCLOTH_SESSION, or null. */
	readonly fromEnvironment: string | null;
	readonly cwd: string;
}

/**
 * The session that is meant: the one named, else the environment's, else the one whose base holds the current directory.
 * Throws Refusal 'invalid' when there is none, 'usage' with the list when there are several.
 */
export function chooseSession({ storePath, given, fromEnvironment, cwd }: SessionChoice): SessionPlace {
	if (given !== null && given !== '.') return findPlace(storePath, given);
	if (given === null && fromEnvironment !== null) return findPlace(storePath, fromEnvironment);
	const here = sessionsOver(storePath, cwd);
	const [only, ...others] = here;
	if (only === undefined) {
		throw new Refusal('invalid', 'no-session-here', `no session's base holds ${cwd}`, {
			hint: 'name the session, or start one with `dropcloth quick`',
		});
	}
	if (others.length > 0) {
		const names = here.map(({ id }) => id);
		throw new Refusal(
			'usage',
			'several-sessions',
			`several sessions have a base that holds ${cwd}: ${names.join(', ')}`,
			{
				hint: 'name the one you mean, or set DROPCLOTH_SESSION',
				details: { sessions: names },
			},
		);
	}
	return only;
}

/** The sessions of a store whose base is the given directory or holds it; of nested bases only the innermost counts. */
export function sessionsOver(storePath: string, directory: string): SessionPlace[] {
	const real = realDirectory(directory);
	const found = sessionIds(storePath).flatMap((id) => {
		const place = placeInStore(storePath, id);
		const known = knownBase(place);
		const base = known === undefined ? basePathOf(place) : known;
		return base !== null && isWithin(real, base) ? [{ place, depth: base.length }] : [];
	});
	const innermost = Math.max(0, ...found.map(({ depth }) => depth));
	return found.filter(({ depth }) => depth === innermost).map(({ place }) => place);
}

/** The directory that a session was attached to; null without one, or when its file cannot be read as a session. */
export function basePathOf(place: SessionPlace): string | null {
	let db: Database;
	try {
		db = openSessionFile(place.dbPath, openDatabase, { readOnly: true });
	} catch (error) {
		if (error instanceof Refusal) return null;
		throw error;
	}
	try {
		return readRoots(db).find(({ role }) => role === 'project')?.basePath ?? null;
	} finally {
		db.close();
	}
}
