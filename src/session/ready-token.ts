import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../base/posix-error.ts';
import { bootId } from '../host/process.ts';
import type { LayerRoot } from './layer-place.ts';
import type { SessionPlace } from './session-place.ts';

/**
 * Says that a layer is in line with its store and nothing has to be looked at before it is mounted, so that a run can
 * launch first and open the store after. Whoever changes the layer or takes it into use first takes the token away, and a
 * rename or removal has one winner: a token that is there has been true since it was written.
 */
export interface ReadyToken {
	/** Number of the layer. */
	readonly layer: number;
	readonly roots: readonly LayerRoot[];
}

interface StoredToken extends ReadyToken {
	readonly bootId: string;
	/** What the session file looked like; another file in its place makes the token void. */
	readonly file: string;
}

/** What the token says, left where it is; null when there is none that holds. */
export function peekReadyToken(place: SessionPlace): ReadyToken | null {
	return readToken(place, tokenPath(place));
}

/** Takes the token away and returns it; null when there is none or it does not hold any more. */
export function claimReadyToken(place: SessionPlace): ReadyToken | null {
	const mine = join(place.layersPath, `claimed-${process.pid}`);
	try {
		renameSync(tokenPath(place), mine);
	} catch (error) {
		if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
		throw error;
	}
	try {
		return readToken(place, mine);
	} finally {
		rmSync(mine, { force: true });
	}
}

/**
 * Makes sure that nobody launches on what the token said; every owner does this first. Returns whether there was one.
 */
export function dropReadyToken(place: SessionPlace): boolean {
	const there = existsSync(tokenPath(place));
	rmSync(tokenPath(place), { force: true });
	return there;
}

/** Writes the token; only with the owner's lock held, the store closed, and the layer in line with it. */
export function writeReadyToken(place: SessionPlace, token: ReadyToken): void {
	const stored: StoredToken = { ...token, bootId: bootId(), file: fileFingerprint(place) };
	const temporary = `${tokenPath(place)}.new`;
	writeFileSync(temporary, JSON.stringify(stored), { mode: 0o600 });
	renameSync(temporary, tokenPath(place));
}

function readToken(place: SessionPlace, path: string): ReadyToken | null {
	try {
		const token = JSON.parse(readFileSync(path, 'utf8')) as StoredToken;
		return token.bootId === bootId() && token.file === fileFingerprint(place) ? token : null;
	} catch (error) {
		if (error instanceof SyntaxError || errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
		throw error;
	}
}

function tokenPath(place: SessionPlace): string {
	return join(place.layersPath, 'ready');
}

/** By stat alone: opening the file would drop SQLite's locks on it. */
function fileFingerprint(place: SessionPlace): string {
	const { dev, ino, size, mtimeNs } = statSync(place.dbPath, { bigint: true });
	const wal = statSync(`${place.dbPath}-wal`, { throwIfNoEntry: false });
	return [dev, ino, size, mtimeNs, wal?.size ?? 0].join(':');
}
