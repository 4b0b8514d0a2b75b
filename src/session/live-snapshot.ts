import { setTimeout as wait } from 'node:timers/promises';
import { askOwner, type ControlAnswers, type ControlRequest, type ControlVerb } from './control-client.ts';
import { isOwned } from './owner-lock.ts';
import { recoverIfStale } from './recover-stale.ts';
import type { Notify } from './session.ts';
import type { SessionPlace } from './session-place.ts';

/** Has the owner of a live session take a snapshot. Null when nothing is live. */
export function takeLiveSnapshot(
	place: SessionPlace,
	{ tag, note, force }: { tag: string | null; note: string | null; force: boolean },
): Promise<ControlAnswers['snap'] | null> {
	return askOwnerPatiently(place, { verb: 'snap', tag, note, force });
}

/**
 * Makes the store's present what the layer holds now: has the owner of a live session take it in, or recovers a session
 * whose owner was killed.
 */
export async function refreshLive(place: SessionPlace, notify: Notify): Promise<void> {
	if ((await askOwnerPatiently(place, { verb: 'take-in' })) === null) await recoverIfStale(place, notify);
}

/** How long an owner that does not listen is waited for: one that has just begun to run will, a short command ends. */
const PATIENCE_MS = 5_000;
const PAUSE_MS = 20;

async function askOwnerPatiently<VERB extends ControlVerb>(
	place: SessionPlace,
	request: ControlRequest & { verb: VERB },
): Promise<ControlAnswers[VERB] | null> {
	for (const deadline = performance.now() + PATIENCE_MS; ; await wait(PAUSE_MS)) {
		const answer = await askOwner(place, request);
		if (answer !== null || !isOwned(place) || performance.now() > deadline) return answer;
	}
}
