import { isDiskFull } from '../base/posix-error.ts';
import type { ChannelAnswer } from './channel-grammar.ts';
import type { ChannelHandler } from './channel-server.ts';
import { type LiveRun, TAKE_CHECKPOINTS } from './live-run.ts';
import { RateCap } from './rate-cap.ts';
import { insertSnapshot } from './snapshot-session.ts';

/** Each stops everything inside for a moment: so many at once, and then one a second. */
const BURST = 5;
const REFILL_MS = 1_000;
/** Snapshots that one run may add to history by asking for them. */
const MOST_PER_RUN = 1_000;

/** What the owner of a run does for those who ask from inside. */
export function channelRequests(run: LiveRun): ChannelHandler {
	const cap = new RateCap({ burst: BURST, refillMs: REFILL_MS }, () => performance.now());
	let made = 0;
	return async ({ word }) => {
		const { snapshots } = run.facts;
		if (!TAKE_CHECKPOINTS.has(snapshots)) return refused(`this run takes no checkpoints (--snapshots ${snapshots})`);
		if (made >= MOST_PER_RUN) return refused(`this run has made ${MOST_PER_RUN} checkpoints, and may make no more`);
		if (!cap.take()) return { kind: 'limited' };
		const answer = await checkpoint(run, word);
		if (answer.kind === 'ok') made++;
		return answer;
	};
}

async function checkpoint(run: LiveRun, label: string | null): Promise<ChannelAnswer> {
	try {
		return await run.takeIn(({ atRest }): ChannelAnswer => {
			const { head, snapshots } = run.session.store;
			const { changed, position } = head.values();
			// a label on a state that has none yet is news; once it has one, asking again adds nothing
			const isNews = changed || (label !== null && snapshots.get(position)?.note === null);
			if (!isNews) return { kind: 'unchanged', snapshot: position };
			const meta = { trigger: 'request', note: label, atRest, run: run.run } as const;
			return { kind: 'ok', snapshot: insertSnapshot(run.session, meta).id };
		});
	} catch (error) {
		// it is the user who can do something about it
		run.facts.notify(`a checkpoint could not be taken: ${error instanceof Error ? error.message : String(error)}`);
		return refused(isDiskFull(error) ? 'the disk is full' : 'the checkpoint could not be taken');
	}
}

function refused(why: string): ChannelAnswer {
	return { kind: 'refused', why };
}
