import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fsPath } from '../base/bytes.ts';
import type { Time } from '../base/inode.ts';
import { errorCode, isDiskFull } from '../base/posix-error.ts';
import { bootId, isRunning, processStart } from '../host/process.ts';
import { replaceFile } from '../host/replace-file.ts';
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

/**
 * A token that this process took away in order to launch on it. The lock is the launcher's to take, a moment later: as long
 * as the claim stands, no other process becomes the owner. It stands until the owner's file is written, so that a run that
 * is killed leaves one of both behind.
 */
export interface Claim extends Disposable {
	readonly token: ReadyToken;
}

interface StoredToken extends ReadyToken {
	readonly bootId: string;
	/** What the session file looked like; another file in its place makes the token void. */
	readonly file: string;
}

/** What the token says, left where it is; null when there is none that holds. */
export function peekReadyToken(place: SessionPlace): ReadyToken | null {
	return ofThisBoot(readToken(place, tokenPath(place)));
}

/** Takes the token away; null when there is none or it does not hold any more. */
export function claimReadyToken(place: SessionPlace): Claim | null {
	// one of another boot stays: it tells the next owner that nothing was lost with the machine
	if (peekReadyToken(place) === null) return null;
	const mine = join(place.layersPath, `${CLAIM}${process.pid}-${processStart(process.pid)}`);
	try {
		renameSync(fsPath(tokenPath(place)), fsPath(mine));
	} catch (error) {
		if (isMissing(error)) return null;
		throw error;
	}
	const release = () => rmSync(fsPath(mine), { force: true });
	const token = ofThisBoot(readToken(place, mine));
	if (token !== null) return { token, [Symbol.dispose]: release };
	release();
	return null;
}

/** A claim as others find it. */
export interface FoundClaim {
	readonly path: string;
	/** Whether the process that made it still lives. */
	readonly alive: boolean;
	/** When it was made: until then the layer held nothing that the store does not. */
	readonly made: Time;
}

/** The claims there are. Without the owner's lock, others may come and go at any moment. */
export function findClaims(place: SessionPlace): FoundClaim[] {
	return claimNames(place).flatMap((name) => {
		const [, pid = '', start = ''] = CLAIM_NAME.exec(name) ?? [];
		const path = join(place.layersPath, name);
		const alive = isRunning(Number(pid), start);
		const stat = statSync(fsPath(path), { bigint: true, throwIfNoEntry: false });
		// the rename was the last that changed it
		return stat === undefined ? [] : [{ path, alive, made: timeOfNs(stat.ctimeNs) }];
	});
}

/** Removes one whose process is gone; with the owner's lock held. */
export function removeClaim({ path }: FoundClaim): void {
	rmSync(fsPath(path), { force: true });
}

/**
 * Makes sure that nobody launches on what the token said; every owner does this first. Returns whether there was one that
 * is true of the session's file, be it from before a restart of the machine.
 */
export function dropReadyToken(place: SessionPlace): boolean {
	const holds = readToken(place, tokenPath(place)) !== null;
	rmSync(fsPath(tokenPath(place)), { force: true });
	return holds;
}

/** Writes the token if there is room; only with the owner's lock held, the store closed, and the layer in line with it. */
export function writeReadyToken(place: SessionPlace, token: ReadyToken): void {
	const stored: StoredToken = { ...token, bootId: bootId(), file: fileFingerprint(place) };
	try {
		replaceFile(tokenPath(place), JSON.stringify(stored));
	} catch (error) {
		// without it the next owner looks for itself
		if (!isDiskFull(error)) throw error;
	}
}

const NS_PER_SECOND = 1_000_000_000n;
const CLAIM = 'claimed-';
const CLAIM_NAME = /^claimed-(\d+)-(\d+)$/;

function timeOfNs(ns: bigint): Time {
	return { sec: Number(ns / NS_PER_SECOND), nsec: Number(ns % NS_PER_SECOND) };
}

function claimNames(place: SessionPlace): string[] {
	try {
		return readdirSync(fsPath(place.layersPath)).filter((name) => CLAIM_NAME.test(name));
	} catch (error) {
		if (isMissing(error)) return [];
		throw error;
	}
}

function readToken(place: SessionPlace, path: string): StoredToken | null {
	try {
		const token = JSON.parse(readFileSync(fsPath(path), 'utf8')) as StoredToken;
		return token.file === fileFingerprint(place) ? token : null;
	} catch (error) {
		if (error instanceof SyntaxError || isMissing(error)) return null;
		throw error;
	}
}

function ofThisBoot(token: StoredToken | null): StoredToken | null {
	return token?.bootId === bootId() ? token : null;
}

function tokenPath(place: SessionPlace): string {
	return join(place.layersPath, 'ready');
}

/** By stat alone: opening the file would drop SQLite's locks on it. Without the device, whose number a restart may change. */
function fileFingerprint(place: SessionPlace): string {
	const { ino, size, mtimeNs } = statSync(fsPath(place.dbPath), { bigint: true });
	const wal = statSync(fsPath(`${place.dbPath}-wal`), { throwIfNoEntry: false });
	return [ino, size, mtimeNs, wal?.size ?? 0].join(':');
}

function isMissing(error: unknown): boolean {
	return errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR';
}
