import { askOwner, type ControlAnswers } from './control-client.ts';
import type { SessionPlace } from './session-place.ts';

/** Has the owner of a live session take a snapshot. Null when nothing is live. */
export function takeLiveSnapshot(
	place: SessionPlace,
	{ tag, note, force }: { tag: string | null; note: string | null; force: boolean },
): Promise<ControlAnswers['snap'] | null> {
	return askOwner(place, { verb: 'snap', tag, note, force });
}

/** Has the owner of a live session take its layer in, so that the store's present is what is inside now. */
export async function refreshLive(place: SessionPlace): Promise<void> {
	await askOwner(place, { verb: 'take-in' });
}
