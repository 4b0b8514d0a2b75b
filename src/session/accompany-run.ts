import type { Launched } from '../sandbox/launch.ts';
import type { LaunchFailure } from '../sandbox/report.ts';
import { EarlyEnd } from './early-end.ts';
import type { LiveRun } from './live-run.ts';
import { removeOwnerFile } from './owner-file.ts';
import type { QuotaWatch } from './quota.ts';
import type { RunOutcome, RunRequest } from './run-request.ts';
import type { OwnedSession } from './session.ts';
import type { StartedRun } from './start-run.ts';

/**
 * Goes along with a command that was launched to its end, as the owner of its session, which `own` opens. `onDescribed` is
 * called when the owner's file is written. Whatever goes wrong, nothing goes on inside unattended.
 */
export async function accompanyRun(
	request: RunRequest,
	started: StartedRun,
	own: () => OwnedSession,
	onDescribed = () => {},
): Promise<RunOutcome> {
	const { launched, plan, cwd } = started;
	using _ = started.attended;
	let session: OwnedSession | null = null;
	try {
		session = own();
		const failure = await failureOf(launched);
		if (failure !== null) {
			removeOwnerFile(session.place);
			const { explainFailure } = await import('../sandbox/explain.ts');
			throw explainFailure(failure, plan, request.backend);
		}
		await started.gate?.open();
		const [{ LiveRun }, { liveVerbs }, { channelRequests }] = await Promise.all([
			import('./live-run.ts'),
			import('./live-verbs.ts'),
			import('./channel-requests.ts'),
		]);
		const run = LiveRun.begin(session, launched, {
			argv: request.sandbox.command,
			cwd,
			started: started.started,
			snapshots: request.snapshots,
			checkpoints: request.checkpoints,
			seenAt: started.seenAt,
			sandbox: started.sandbox,
			notify: request.notify,
			...(request.onWaiting === undefined ? {} : { onWaiting: request.onWaiting }),
		});
		onDescribed();
		started.channel.answerWith(channelRequests(run));
		using end = new EarlyEnd(run, request.notify);
		using _quota = await watchQuota(request, started, run, end);
		const ended = await run.accompany(liveVerbs(run));
		return { ...ended, joined: false, endedFor: started.end.reason ?? end.reason };
	} catch (error) {
		if (!launched.hasEnded) launched.kill('SIGKILL');
		await launched.ended;
		throw error;
	} finally {
		started.channel.close();
		if (session === null) started.lock.close();
		else session.close();
	}
}

async function watchQuota(
	{ quotaBytes, notify }: RunRequest,
	{ usedBytes }: StartedRun,
	run: LiveRun,
	end: EarlyEnd,
): Promise<QuotaWatch | null> {
	if (quotaBytes === null || usedBytes === null) return null;
	const { QuotaWatch: Watch } = await import('./quota.ts');
	const quota = new Watch(run.layer.place, quotaBytes, usedBytes, end, notify);
	run.watchQuota(quota);
	return quota;
}

/** What kept the launcher from getting as far as the command; null when all mounts are made. */
export async function failureOf(launched: Launched): Promise<LaunchFailure | null> {
	await launched.ready;
	return launched.report().failure;
}
