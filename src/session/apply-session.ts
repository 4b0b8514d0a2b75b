import type { PlanOptions } from '../apply/merge-plan.ts';
import { type ApplyPlan, type ApplySummary, isNothingToApply, planApply, summarizeApply } from '../apply/plan-apply.ts';
import { abortApply, continueApply, undoApply } from '../apply/resume-apply.ts';
import type { HostedRoot } from '../apply/starting-points.ts';
import { refuseConflicts, refuseInterrupted, writeApply } from '../apply/write-host.ts';
import type { Change } from '../base/change.ts';
import { errorCode } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import { HostTree } from '../host/host-tree.ts';
import { checkBaseInPlace } from './base-directory.ts';
import type { OwnedSession } from './session.ts';
import { snapshotIfChanged } from './snapshot-session.ts';

/** What a user asks of an apply. */
export interface SessionApply {
	/** The snapshot to apply; null for the present. */
	readonly snapshot: number | null;
	readonly resolve: PlanOptions['resolve'];
	/** Globs below the project. */
	readonly only: readonly string[];
}

/** One path of an apply. `touched`: its times, attributes or owner alone change. */
export interface PlannedPath {
	readonly root: string;
	readonly path: string;
	readonly what: 'written' | 'removed' | 'touched';
}

/** A session's apply, planned, with its host directories open to be written. */
export class PreparedApply implements Disposable {
	readonly #session: OwnedSession;
	readonly #hosted: readonly HostedRoot[];
	readonly #plan: ApplyPlan;

	private constructor(session: OwnedSession, hosted: readonly HostedRoot[], plan: ApplyPlan) {
		this.#session = session;
		this.#hosted = hosted;
		this.#plan = plan;
	}

	/** Plans it; the host is not touched. A present that is in no snapshot becomes one, so that what is applied has a number. */
	static plan(session: OwnedSession, { snapshot, resolve, only }: SessionApply): PreparedApply {
		refuseInterrupted(session.store);
		const hosted = openHosts(session);
		try {
			if (snapshot === null) snapshotIfChanged(session, { trigger: 'apply' });
			const { store, clock } = session;
			const chosen = snapshot ?? store.head.values().position;
			const plan = planApply(store, hosted, { snapshot: chosen, resolve, only, now: clock.now() });
			return new PreparedApply(session, hosted, plan);
		} catch (error) {
			closeHosts(hosted);
			throw error;
		}
	}

	get isNothing(): boolean {
		return isNothingToApply(this.#plan);
	}

	/** What it does, to be shown before and after. */
	summary(dryRun: boolean): ApplySummary {
		return summarizeApply(this.#plan, dryRun);
	}

	/** The paths that are written and removed, each with its tree. */
	paths(): PlannedPath[] {
		return this.#plan.trees.flatMap(({ root, plan }) =>
			plan.changes.map((change) => ({ root: root.role, path: change.path, what: whatHappens(change) })),
		);
	}

	/** Throws Refusal 'conflict' with the list when both sides changed something that could not be merged. */
	refuseConflicts(): void {
		refuseConflicts(this.#plan);
	}

	/** Writes it to the host. Throws Refusal; nothing is half written then. */
	write(): void {
		writeApply(this.#session.store, this.#plan, finishOptions(this.#session));
	}

	[Symbol.dispose](): void {
		closeHosts(this.#hosted);
	}
}

/** Makes an apply whole that was cut short. */
export function continueSessionApply(session: OwnedSession): void {
	withHosts(session, (hosted) => continueApply(session.store, hosted, finishOptions(session)));
}

/** Puts the host back to before an apply that was cut short. Returns paths that the host changed since and keeps. */
export function abortSessionApply(session: OwnedSession): string[] {
	return withHosts(session, (hosted) => abortApply(session.store, hosted));
}

/** Puts the host back to before the last apply. Throws Refusal 'drifted' when the host changed since. */
export function undoSessionApply(session: OwnedSession): void {
	withHosts(session, (hosted) => undoApply(session.store, hosted, finishOptions(session)));
}

function whatHappens({ before, after, content }: Change): PlannedPath['what'] {
	if (after === null) return 'removed';
	const sameThing = before !== null && before.kind === after.kind && before.mode === after.mode;
	return sameThing && content === null && before.target === after.target ? 'touched' : 'written';
}

function finishOptions(session: OwnedSession): Parameters<typeof writeApply>[2] {
	return { clock: session.clock, commit: (changes, write) => session.changeTree(changes, write) };
}

function withHosts<T>(session: OwnedSession, use: (hosted: readonly HostedRoot[]) => T): T {
	const hosted = openHosts(session);
	try {
		return use(hosted);
	} finally {
		closeHosts(hosted);
	}
}

function openHosts(session: OwnedSession): HostedRoot[] {
	const hosted: HostedRoot[] = [];
	try {
		for (const root of session.workRoots()) {
			if (root.basePath !== null) hosted.push({ root, host: openHost(root.basePath) });
		}
	} catch (error) {
		closeHosts(hosted);
		throw error;
	}
	if (hosted.length === 0) {
		throw new Refusal('failed', 'no-base', `session '${session.id}' has no base to apply to`, {
			hint: 'give it one with `dropcloth attach`',
		});
	}
	return hosted;
}

function openHost(path: string): HostTree {
	let host: HostTree;
	try {
		host = HostTree.open(path, 'rw');
	} catch (error) {
		throw notOpened(path, error);
	}
	try {
		checkBaseInPlace(path);
	} catch (error) {
		host.close();
		throw error;
	}
	return host;
}

function notOpened(path: string, cause: unknown): unknown {
	if (errorCode(cause) !== 'ENOENT' && errorCode(cause) !== 'ENOTDIR') return cause;
	const hint = 'when it was moved, say so with `dropcloth attach SESSION DIR`';
	return new Refusal('drifted', 'base-gone', `the base ${path} is not there any more`, { hint, cause });
}

function closeHosts(hosted: readonly HostedRoot[]): void {
	for (const { host } of hosted) host.close();
}
