import { setTimeout as wait } from 'node:timers/promises';
import { askOwner } from './control-client.ts';
import type { ControlAnswer, ControlRequest, ControlVerb } from './control-verbs.ts';
import { isOwned } from './owner-lock.ts';
import type { SessionPlace } from './session-place.ts';

/** How long an owner that does not listen is waited for: one that has just begun to run will, a short command ends. */
const PATIENCE_MS = 5_000;
const PAUSE_MS = 20;

/** Asks the owner of a session as soon as it listens; null when nobody owns the session, or nobody listens in time. */
export async function askOwnerPatiently<VERB extends ControlVerb>(
	place: SessionPlace,
	request: ControlRequest<VERB>,
): Promise<ControlAnswer<VERB> | null> {
	for (const deadline = performance.now() + PATIENCE_MS; ; await wait(PAUSE_MS)) {
		const answer = await askOwner(place, request);
		if (answer !== null || !isOwned(place) || performance.now() > deadline) return answer;
	}
}
