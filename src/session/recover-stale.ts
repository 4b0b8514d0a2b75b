import { Refusal } from '../base/refusal.ts';
import { readOwnerFile } from './owner-file.ts';
import { isOwned } from './owner-lock.ts';
import { findClaims } from './ready-token.ts';
import type { Notify } from './session.ts';
import type { SessionPlace } from './session-place.ts';

/** Whether a run is described whose owner is not there to take the description away; only of a session that nobody owns. */
export function wasLeftBehind(place: SessionPlace): boolean {
	return readOwnerFile(place) !== null || findClaims(place).some(({ alive }) => !alive);
}

/** Recovers a session whose owner was killed; a session that somebody owns, or that ended well, is left alone. */
export async function recoverIfStale(place: SessionPlace, notify: Notify): Promise<boolean> {
	// looked at in this order: an owner takes the lock before it writes the file, and removes the file before it lets go
	if (!wasLeftBehind(place) || isOwned(place) || !wasLeftBehind(place)) return false;
	try {
		const { OwnedSession } = await import('./session.ts');
		(await OwnedSession.open(place, notify)).close();
		return true;
	} catch (error) {
		// somebody else came first, and recovered it
		if (error instanceof Refusal && error.kind === 'busy') return false;
		throw error;
	}
}
