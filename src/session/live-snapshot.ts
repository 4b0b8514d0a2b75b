import { askOwnerPatiently } from './ask-owner-patiently.ts';
import type { ControlAnswer } from './control-verbs.ts';
import { recoverIfStale } from './recover-stale.ts';
import type { Notify } from './session.ts';
import type { SessionPlace } from './session-place.ts';

/** Has the owner of a live session take a snapshot. Null when nothing is live. */
export function takeLiveSnapshot(
	place: SessionPlace,
	{ tag, note, force }: { tag: string | null; note: string | null; force: boolean },
): Promise<ControlAnswer<'snap'> | null> {
	return askOwnerPatiently(place, { verb: 'snap', tag, note, force });
}

/**
 * Makes the store's present what the layer holds now: has the owner of a live session take it in, or recovers a session
 * whose owner was killed.
 */
export async function refreshLive(place: SessionPlace, notify: Notify): Promise<void> {
	if ((await askOwnerPatiently(place, { verb: 'take-in' })) === null) await recoverIfStale(place, notify);
}
