import { errorCode, isDiskFull } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import { crashPoint } from '../host/crash-point.ts';
import type { LiveRun } from './live-run.ts';
import { takeInAndHold } from './live-take-in.ts';
import { PendingRestore } from './pending-restore.ts';
import { type PlannedRestore, planRestore, type RestoreScope } from './plan-restore.ts';
import { checkExpected, reportOf, reportOfOutcome, scopeOf } from './restore-report.ts';
import type { RestoreReport, RestoreRequest } from './restore-request.ts';
import type { RestoreRows } from './restore-rows.ts';
import { type RestoreOutcome, restoreSession } from './restore-session.ts';
import { snapshotIfChanged } from './snapshot-session.ts';
import { TakeIn } from './take-in.ts';
import { type WrittenTrees, writeLiveTrees } from './write-live-trees.ts';

/** What restoring a running session would change. Null when there is nothing to undo or redo. */
export async function previewLiveRestore(run: LiveRun, request: RestoreRequest): Promise<RestoreReport | null> {
	await run.takeIn(() => {});
	const plan = planRestore(run.session, request.aim, scopeOf(run.session, request));
	return plan && reportOf(plan);
}

/**
 * Restores a running session; what runs inside stands still meanwhile, goes on, and sees the other files. In this order: what
 * the layer holds becomes the store's present, and a snapshot; the way that a recovery has to go is written down; the
 * difference goes through the mounted overlay; what the layer then holds becomes the present.
 *
 * Null when there is nothing to undo or redo. Throws Refusal; after 'torn' a part of the difference was written.
 */
export function restoreLive(
	run: LiveRun,
	request: RestoreRequest,
	expected: number | null,
): Promise<RestoreReport | null> {
	const { session } = run;
	return run.inOrder(() =>
		takeInAndHold(run.takeInPlace, (init) => {
			const scope = scopeOf(session, request);
			const plan = planRestore(session, request.aim, scope);
			if (plan === null) return null;
			checkExpected(session, plan, expected);
			return reportOfOutcome(
				init === null ? restoreSession(session, plan, scope) : restoreStanding(run, init, plan, scope),
			);
		}),
	);
}

/** With everything inside standing still, and taken in. */
function restoreStanding(run: LiveRun, init: number, plan: PlannedRestore, scope: RestoreScope): RestoreOutcome {
	const { session, layer } = run;
	const { target, changes } = plan;
	const { store } = session;
	const present = snapshotIfChanged(session, { trigger: 'restore', run: run.run })?.id ?? null;
	const before = store.head.values().position;
	const rows = { target, roots: session.workRoots(scope.withHome), paths: scope.paths, trail: plan.trail(before) };
	using _ = PendingRestore.begin(layer.place, rows);
	crashPoint('restore-pending');
	const written = writeLiveTrees(run, init, target, changes);
	crashPoint('restore-written');
	takeInWritten(run, rows, written);
	if (written.failure !== null) throw tornRestore(target, before, session.id, written.failure.cause);
	return { target, present, changes, kept: written.kept };
}

/** What the layer holds now becomes the present, which the target is when all of it was written. */
function takeInWritten({ session, layer, facts }: LiveRun, rows: RestoreRows, { kept, failure }: WrittenTrees): void {
	const { store } = session;
	const takeIn = new TakeIn(store, layer, facts.started);
	takeIn.scan();
	takeIn.commit(() => {
		if (failure !== null) return;
		if (rows.trail !== null) store.config.setJson('redo', rows.trail);
		if (rows.paths.length > 0) return;
		store.head.moveTo(rows.target);
		if (kept.length > 0) store.head.countChange(0, 0);
	});
}

function tornRestore(target: number, before: number, id: string, cause: unknown): unknown {
	if (errorCode(cause) === null && !(cause instanceof Refusal)) return cause;
	const { message } = cause as Error;
	return new Refusal(
		isDiskFull(cause) ? 'full' : 'failed',
		'torn',
		`only a part of snapshot ${target} could be restored: ${message}`,
		{
			hint: `what was there before is snapshot ${before}: \`dropcloth restore ${id} ${before}\``,
			cause,
		},
	);
}
