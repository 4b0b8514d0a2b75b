import { printable } from '../base/printable.ts';
import { Refusal } from '../base/refusal.ts';
import { PreparedApply } from '../session/apply-session.ts';
import { discardSession } from '../session/discard-session.ts';
import { planRestore } from '../session/plan-restore.ts';
import { restoreSession } from '../session/restore-session.ts';
import type { RunTarget } from '../session/run-target.ts';
import { OwnedSession } from '../session/session.ts';
import type { SessionPlace } from '../session/session-place.ts';
import { Runs } from '../store/runs.ts';
import { count } from './format.ts';

/**
 * Does what `--on-exit` asked for. The command has ended and its exit code stands: what cannot be done is said, and the
 * session is left as it is.
 */
export async function onExit(
	what: 'apply' | 'discard',
	{ place, create }: RunTarget,
	run: number,
	warn: (text: string) => void,
): Promise<void> {
	try {
		if (what === 'discard' && create !== null && run === 1) await discardSession(place);
		else if (what === 'discard') await putBack(place, run, warn);
		else await applyAll(place, warn);
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		warn(`--on-exit ${what}: ${error.message}${error.hint === null ? '' : ` (${error.hint})`}`);
	}
}

/** A session that was there before keeps its history: it goes back to where the run began, home included. */
async function putBack(place: SessionPlace, run: number, warn: (text: string) => void): Promise<void> {
	const session = await OwnedSession.open(place, warn);
	try {
		const first = new Runs(session.store).get(run)?.firstSnapshot;
		if (first === undefined) throw new Error(`run ${run} is not in the record of session ${place.id}`);
		const scope = { paths: [], withHome: true };
		const plan = planRestore(session, { ref: String(first) }, scope);
		if (plan === null) throw new Error(`snapshot ${first} cannot be restored`);
		const { present } = restoreSession(session, plan, scope);
		const kept = present ?? session.store.snapshots.last()?.id;
		warn(`session ${place.id} is back at snapshot ${first}; what the command did is snapshot ${kept}`);
	} finally {
		session.close();
	}
}

/** What the host would run is not written unasked: that needs `apply --allow-exec`. */
async function applyAll(place: SessionPlace, warn: (text: string) => void): Promise<void> {
	const session = await OwnedSession.open(place, warn);
	try {
		using prepared = PreparedApply.plan(session, { snapshot: null, resolve: 'ask', only: [] });
		prepared.refuseConflicts();
		const { applied, removed, executableSurface } = prepared.summary(false);
		if (executableSurface.length > 0) {
			const listed = executableSurface.map(({ path, reason }) => `${printable(path)} (${reason})`).join(', ');
			const hint = `look at it with \`dropcloth apply ${place.id}\``;
			throw new Refusal('failed', 'executable-surface', `it would change what the host runs: ${listed}`, { hint });
		}
		prepared.write();
		warn(`applied ${count(applied, 'path')} and removed ${removed} in ${printable(session.project.basePath ?? '')}`);
	} finally {
		session.close();
	}
}
