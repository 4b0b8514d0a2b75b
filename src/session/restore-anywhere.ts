import { Refusal } from '../base/refusal.ts';
import { askOwnerPatiently } from './ask-owner-patiently.ts';
import { recoverIfStale } from './recover-stale.ts';
import type { RestoreReport, RestoreRequest } from './restore-request.ts';
import type { Notify } from './session.ts';
import type { SessionPlace } from './session-place.ts';

/** How a restore is to go about. */
export interface RestoreManner {
	readonly dryRun: boolean;
	/** Asks the user with what would be done; throws for a no. Null when nobody is to be asked. */
	readonly confirm: ((report: RestoreReport) => Promise<void>) | null;
	readonly notify: Notify;
}

/**
 * Restores a session: a live one by its owner, so that what runs inside sees it at once; a stopped one here. Null when there is
 * nothing to undo or redo. Throws Refusal.
 */
export async function restoreAnywhere(
	place: SessionPlace,
	request: RestoreRequest,
	manner: RestoreManner,
): Promise<RestoreReport | null> {
	const { dryRun, confirm } = manner;
	const live = (await askOwnerPatiently(place, { verb: 'ping' })) !== null;
	if (!live) return await restoreStopped(place, request, manner);
	let expected: number | null = null;
	if (dryRun || confirm !== null) {
		const preview = await askOwnerPatiently(place, { verb: 'restore', restore: request, dryRun: true, expected });
		if (preview === null) return await restoreEnded(place, request, manner);
		if (dryRun || preview.report === null) return preview.report;
		await confirm?.(preview.report);
		expected = preview.report.target;
	}
	const done = await askOwnerPatiently(place, { verb: 'restore', restore: request, dryRun: false, expected });
	return done === null ? await restoreEnded(place, request, manner) : done.report;
}

/** An owner that ended well did not begin with what it did not answer; one that was killed may have done it. */
async function restoreEnded(
	place: SessionPlace,
	request: RestoreRequest,
	manner: RestoreManner,
): Promise<RestoreReport | null> {
	if (!(await recoverIfStale(place, manner.notify))) return await restoreStopped(place, request, manner);
	const what = `the run of session '${place.id}' was killed while it was asked; what it had done is recovered`;
	throw new Refusal('failed', 'run-killed', what, { hint: 'look at `dropcloth log` and try again' });
}

/** What a live session's owner has loaded already is loaded here only when there is none. */
async function restoreStopped(
	place: SessionPlace,
	request: RestoreRequest,
	{ dryRun, confirm, notify }: RestoreManner,
): Promise<RestoreReport | null> {
	const [{ OwnedSession }, { planRestore }, { restoreSession }, { reportOf, reportOfOutcome, scopeOf }] =
		await Promise.all([
			import('./session.ts'),
			import('./plan-restore.ts'),
			import('./restore-session.ts'),
			import('./restore-report.ts'),
		]);
	const session = await OwnedSession.open(place, notify);
	try {
		const scope = scopeOf(session, request);
		const plan = planRestore(session, request.aim, scope);
		if (plan === null) return null;
		if (dryRun) return reportOf(plan);
		await confirm?.(reportOf(plan));
		return reportOfOutcome(restoreSession(session, plan, scope));
	} finally {
		session.close();
	}
}
