import { fstatSync, statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fsPath } from '../base/bytes.ts';
import { Refusal } from '../base/refusal.ts';
import { LOCK_OWNER, LockFile } from '../host/lock-file.ts';
import { askOwner } from './control-client.ts';
import { readOwnerFile } from './owner-file.ts';
import { dropReadyToken, type FoundClaim, findClaims } from './ready-token.ts';
import { makePlace, type SessionPlace } from './session-place.ts';

/** How long a refused OWNER lock is tried again: a killed owner's tree takes some 70 ms to die, a short command less. */
const PATIENCE_MS = 5_000;
const PAUSE_MS = 20;

/** The lock, and whether the last owner left word that its layer holds nothing that the store does not. */
export interface Ownership {
	readonly lock: LockFile;
	readonly wasReady: boolean;
	/** A claim to launch that a killed process left; to be removed when the layer is taken in. */
	readonly left: FoundClaim | null;
}

/**
 * Becomes the owner of a session, or says who is. OWNER denied is no verdict: as long as nobody answers on the control
 * socket, the one who had it may just be dying. The lock goes with the returned file when that is closed, and with the
 * process. Throws Refusal 'busy'.
 */
export async function lockOwner(place: SessionPlace, patienceMs = PATIENCE_MS): Promise<Ownership> {
	for (const deadline = performance.now() + patienceMs; ; await wait(PAUSE_MS)) {
		const ownership = tryToOwn(place);
		if (ownership !== null) return ownership;
		const owner = await askOwner(place, { verb: 'ping' });
		if (owner !== null) throw liveRefusal(place, owner.pid, owner.argv);
		if (performance.now() > deadline) throw busyRefusal(place, patienceMs);
	}
}

/** Whether some process owns the session right now. Takes nothing. */
export function isOwned(place: SessionPlace): boolean {
	const file = LockFile.openToLook(place.lockPath);
	if (file === null) return false;
	try {
		return file.holder(LOCK_OWNER, 1, 'exclusive') !== 'none';
	} finally {
		file.close();
	}
}

/** Null when another has the lock, or is about to have it. */
function tryToOwn(place: SessionPlace): Ownership | null {
	makePlace(place);
	const lock = LockFile.open(place.lockPath);
	try {
		if (lock.tryLock(LOCK_OWNER, 1, 'exclusive') && isStillThere(lock)) {
			const wasReady = dropReadyToken(place);
			const claims = findClaims(place);
			if (!claims.some(({ alive }) => alive)) return { lock, wasReady, left: claims[0] ?? null };
		}
	} catch (error) {
		lock.close();
		throw error;
	}
	lock.close();
	return null;
}

/** A session that was thrown away took its lock file with it: the next one of that name has another. */
function isStillThere({ fd, path }: LockFile): boolean {
	const ours = fstatSync(fd, { bigint: true });
	const there = statSync(fsPath(path), { bigint: true, throwIfNoEntry: false });
	return there?.ino === ours.ino && there.dev === ours.dev;
}

function busyRefusal(place: SessionPlace, patienceMs: number): Refusal {
	const owner = readOwnerFile(place);
	const who = owner === null ? 'another command' : `process ${owner.pid} (${owner.argv.join(' ')})`;
	const what = `${who} has been working on session '${place.id}' for ${patienceMs / 1000} s`;
	return new Refusal('busy', 'session-busy', what, { hint: 'try again when it has ended; `dropcloth ps` shows it' });
}

function liveRefusal(place: SessionPlace, pid: number, argv: readonly string[]): Refusal {
	return new Refusal(
		'busy',
		'session-live',
		`session '${place.id}' is live: process ${pid} runs ${argv.join(' ')} in it`,
		{
			hint: `wait for it, or end it with \`dropcloth stop ${place.id}\``,
		},
	);
}
