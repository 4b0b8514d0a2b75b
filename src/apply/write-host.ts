/**
 * The one way in which a session is written to the host. The row in the table `applied` is the journal: before the host is
 * touched it is on disk, with everything that will be overwritten beside it; from then on the apply can be finished or taken
 * back by whoever comes next. The rows of the layer that the host now has are dropped only at the end.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Inode } from '../base/inode.ts';
import { ancestorPaths } from '../base/paths.ts';
import { errorCode, isDiskFull, PosixError } from '../base/posix-error.ts';
import { printable } from '../base/printable.ts';
import { Refusal } from '../base/refusal.ts';
import { crashPoint } from '../host/crash-point.ts';
import { writeOverwrittenIntoHistory } from '../store/base-moved.ts';
import type { Store } from '../store/store.ts';
import {
	type AppliedRecord,
	type AppliedTree,
	insertApply,
	interruptedApply,
	NO_RECORD,
	noteUnlocked,
	plainInode,
} from './applied-record.ts';
import { type FinishOptions, finishApply } from './finish-apply.ts';
import { HostMoved, HostWatch } from './host-watch.ts';
import { everyChange } from './merge-plan.ts';
import { type ApplyPlan, isNothingToApply, type PlannedTree } from './plan-apply.ts';
import { abortWriting } from './resume-apply.ts';
import { savedChanges } from './saved-copy.ts';

/** How a plan is written. */
export interface WriteOptions extends FinishOptions {
	readonly clock: Clock;
}

/**
 * Writes a plan to the host; everything is on disk when it returns. When the host cannot be written, or was changed since it
 * was planned, what was written until then is taken back.
 *
 * Throws Refusal: `conflict` for a plan with conflicts, `drifted` when the host changed meanwhile, `failed` when it cannot be
 * written or an earlier apply was cut short.
 */
export function writeApply(store: Store, plan: ApplyPlan, options: WriteOptions): void {
	refuseConflicts(plan);
	refuseInterrupted(store);
	if (isNothingToApply(plan)) {
		dropRowsWithoutRecord(store, plan, options);
		return;
	}
	const record = prepare(store, plan, options.clock);
	try {
		for (const tree of plan.trees) writeTree(store, record, tree);
	} catch (error) {
		throw takenBack(store, record, plan, error);
	}
	crashPoint('apply-written');
	finishApply(store, record, plan.trees, options);
}

/** The host has everything already: the session reads it there from now on. */
function dropRowsWithoutRecord(store: Store, { snapshot, trees }: ApplyPlan, options: WriteOptions): void {
	const noted = noteOf(store, snapshot, trees, options.clock);
	finishApply(store, { ...noted, saved: 0, id: NO_RECORD }, trees, options);
}

/** Throws Refusal `conflict` with the list when a plan has conflicts that nobody resolved. */
export function refuseConflicts({ trees }: ApplyPlan): void {
	const conflicts = trees.flatMap(({ root, plan }) =>
		plan.conflicts.map((conflict) => ({ root: root.role, ...conflict })),
	);
	if (conflicts.length === 0) return;
	const paths = conflicts.length === 1 ? 'path' : 'paths';
	throw new Refusal(
		'conflict',
		'apply-conflicts',
		`${conflicts.length} ${paths} changed on both sides, nothing was written: ${conflicts.map(({ path }) => printable(path)).join(', ')}`,
		{
			hint: "take the session's side with --ours, the host's with --theirs, or leave them out with --only",
			details: { conflicts },
		},
	);
}

/** Throws Refusal `failed` while an apply that was cut short waits to be finished or taken back. */
export function refuseInterrupted(store: Store): void {
	const interrupted = interruptedApply(store);
	if (interrupted === null) return;
	throw new Refusal(
		'failed',
		'apply-interrupted',
		`interrupted apply ${interrupted.id} of snapshot ${interrupted.snapshot}`,
		{
			hint: '`apply --continue` makes it whole, `apply --abort` puts the host back',
		},
	);
}

/** Saves what will be overwritten, in the store's history too, and notes what will be done. On disk when it returns. */
function prepare(store: Store, { snapshot, trees }: ApplyPlan, clock: Clock): AppliedRecord {
	const noted = noteOf(store, snapshot, trees, clock);
	const saves = savedChanges(trees);
	const staged = store.tree.stage(saves);
	crashPoint('apply-staged');
	for (const { root, host, plan } of trees) {
		const overwritten = everyChange(plan).map(({ path, before }) => ({
			path,
			before: before === null ? null : { ...before, opaque: false },
			content: before?.kind === 'file' ? host.content(path, before.size) : null,
		}));
		const directory = (path: string): Inode | null => host.stat(path);
		writeOverwrittenIntoHistory(store, root.ino, overwritten, { directory });
	}
	crashPoint('apply-saved');
	const record = store.write(() => {
		const saved = store.tree.addRoot('saved', trees[0]?.root.basePath ?? null);
		store.tree.applyAside(saved.ino, saves, staged);
		const whole = { ...noted, saved: saved.ino };
		return { ...whole, id: insertApply(store, whole) };
	});
	store.durable();
	crashPoint('apply-noted');
	return record;
}

/** What is noted of an apply; asked before the saved copy moves the present away from its position. */
function noteOf(
	store: Store,
	snapshot: number,
	trees: readonly PlannedTree[],
	clock: Clock,
): Omit<AppliedRecord, 'id' | 'saved'> {
	const { position, changed } = store.head.values();
	return {
		created: clock.now(),
		state: 'writing',
		snapshot,
		token: randomBytes(8).toString('hex'),
		wasPresent: snapshot === position && !changed,
		trees: trees.map(appliedTree),
		unlocked: [],
	};
}

function appliedTree({ root, plan }: PlannedTree): AppliedTree {
	const changes = everyChange(plan);
	const written = new Set(changes.map(({ path }) => path));
	const around = new Set(changes.flatMap(({ path }) => ancestorPaths(path)).filter((path) => !written.has(path)));
	return {
		root: root.ino,
		paths: changes.map(({ path, before, after, content, link }) => ({
			path,
			wasThere: before !== null,
			after: after === null ? null : plainInode(after),
			bytes: after?.kind !== 'file' ? null : plan.merged.has(path) ? 'merged' : content === null ? 'kept' : 'ours',
			link,
		})),
		around: [...around],
		settled: plan.settled,
	};
}

function writeTree(store: Store, record: AppliedRecord, { root, host, plan }: PlannedTree): void {
	const changes = everyChange(plan);
	const watch = new HostWatch(host, changes);
	host.apply(changes, {
		durable: true,
		owner: 'possible',
		token: record.token,
		step: (index) => watch.check(index),
		onUnlock: (path, mode) => noteUnlocked(store, record.id, root.ino, path, mode),
	});
}

/** Puts the host back after a failure, and says what failed. */
function takenBack(store: Store, record: AppliedRecord, { trees }: ApplyPlan, failure: unknown): unknown {
	if (!(failure instanceof PosixError) && !(failure instanceof HostMoved)) return failure;
	const kind = isDiskFull(failure) ? 'full' : 'failed';
	try {
		abortWriting(store, record, trees);
	} catch (error) {
		const message = `${failure.message}; apply ${record.id} could not be taken back`;
		return new Refusal(kind, 'apply-interrupted', message, {
			hint: '`apply --continue` makes it whole, `apply --abort` puts the host back',
			cause: new AggregateError([failure, error]),
		});
	}
	if (failure instanceof HostMoved || errorCode(failure) === 'ENOTEMPTY') {
		return new Refusal(
			'drifted',
			'host-changed',
			`${failure.path} changed on the host during the apply; nothing was written`,
			{
				hint: 'apply again',
				cause: failure,
			},
		);
	}
	return new Refusal(kind, 'apply-failed', `${failure.message}; nothing was written`, { cause: failure });
}
