import { setTimeout as wait } from 'node:timers/promises';
import { Refusal } from '../base/refusal.ts';
import { askOwner } from './control-client.ts';
import { isOwned } from './owner-lock.ts';
import type { SessionPlace } from './session-place.ts';

const PATIENCE_MS = 30_000;
const PAUSE_MS = 20;

/** Ends a live run and waits until everything is taken in. False when nothing was live. */
export async function stopSession(place: SessionPlace): Promise<boolean> {
	let wasLive = false;
	for (const deadline = performance.now() + PATIENCE_MS; isOwned(place); await wait(PAUSE_MS)) {
		// a run that has just begun does not listen yet, and a short command never does
		wasLive ||= (await askOwner(place, { verb: 'stop' })) !== null;
		if (performance.now() > deadline) {
			throw new Refusal('busy', 'still-live', `session '${place.id}' has not ended after ${PATIENCE_MS / 1000} s`, {
				hint: 'see `dropcloth ps` for the process that owns it',
			});
		}
	}
	return wasLive;
}
