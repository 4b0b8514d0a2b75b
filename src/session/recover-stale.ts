import { existsSync } from 'node:fs';
import { readOwnerFile } from './owner-file.ts';
import { isOwned } from './owner-lock.ts';
import { type Notify, OwnedSession } from './session.ts';
import type { SessionPlace } from './session-place.ts';

/** Recovers a session whose owner was killed; a session that somebody owns, or that ended well, is left alone. */
export async function recoverIfStale(place: SessionPlace, notify: Notify): Promise<boolean> {
	if (!existsSync(place.lockPath) || isOwned(place) || readOwnerFile(place) === null) return false;
	(await OwnedSession.open(place, notify)).close();
	return true;
}
