import type { Change } from '../base/change.ts';
import { baseName, joinPath } from '../base/paths.ts';
import { Refusal } from '../base/refusal.ts';
import type { ApplyOptions } from '../host/apply-options.ts';
import { crashPoint } from '../host/crash-point.ts';
import { writeOverwrittenIntoHistory } from '../store/base-moved.ts';
import type { Store } from '../store/store.ts';
import {
	type AppliedPath,
	type AppliedRecord,
	type AppliedTree,
	interruptedApply,
	lastApply,
	noteUnlocked,
	setApplyState,
} from './applied-record.ts';
import { type FinishOptions, finishApply, finishUndo, treeOf } from './finish-apply.ts';
import { aimOf, changeTo, type Direction, hostHas, hostHasExactly } from './host-changes.ts';
import { savedBefore } from './saved-copy.ts';
import type { HostedRoot } from './starting-points.ts';

/**
 * Makes an apply, or an undo of one, that was cut short whole. Throws Refusal `failed` when there is none, `drifted` when
 * somebody changed a path since that it has yet to write, or has written.
 */
export function continueApply(store: Store, hosted: readonly HostedRoot[], options: FinishOptions): AppliedRecord {
	const record = expectInterrupted(store);
	const direction: Direction = record.state === 'writing' ? 'forward' : 'back';
	refuseTouched(store, record, hosted);
	writeAll(store, record, hosted, direction);
	crashPoint('apply-written');
	if (direction === 'forward') finishApply(store, record, hosted, options);
	else finishUndo(store, record, hosted, options);
	return record;
}

/**
 * Takes an apply that was cut short back: the host is as before it. What somebody changed since stays as it is; those paths
 * are given. An undo that was cut short is done away with in the same way: the host has what was applied again.
 */
export function abortApply(store: Store, hosted: readonly HostedRoot[]): string[] {
	return abortWriting(store, expectInterrupted(store), hosted);
}

/** Takes back what an apply wrote until now; see {@link abortApply}. */
export function abortWriting(store: Store, record: AppliedRecord, hosted: readonly HostedRoot[]): string[] {
	const isUndo = record.state === 'undoing';
	const left = writeAll(store, record, hosted, isUndo ? 'forward' : 'back');
	crashPoint('apply-taken-back');
	store.write(() => setApplyState(store, record.id, isUndo ? 'done' : 'aborted'));
	store.durable();
	return left;
}

/**
 * Puts the host back to what it was before the newest apply. The session keeps what it has: it differs from the host again.
 * Throws Refusal `failed` when there is nothing to undo, `drifted` when the host changed since.
 */
export function undoApply(store: Store, hosted: readonly HostedRoot[], options: FinishOptions): AppliedRecord {
	if (interruptedApply(store) !== null) {
		throw new Refusal('failed', 'apply-interrupted', 'an apply was cut short', {
			hint: '`apply --continue` makes it whole, `apply --abort` puts the host back',
		});
	}
	const done = lastApply(store);
	if (done === null) throw new Refusal('failed', 'nothing-applied', 'nothing was applied that could be undone');
	refuseChangedSince(store, done, hosted);
	keepHistory(store, done, hosted);
	const record: AppliedRecord = { ...done, state: 'undoing' };
	store.write(() => setApplyState(store, record.id, 'undoing'));
	store.durable();
	crashPoint('apply-noted');
	writeAll(store, record, hosted, 'back');
	crashPoint('apply-written');
	finishUndo(store, record, hosted, options);
	return record;
}

function expectInterrupted(store: Store): AppliedRecord {
	const record = interruptedApply(store);
	if (record !== null) return record;
	throw new Refusal('failed', 'no-interrupted-apply', 'no apply was cut short');
}

/** Writes every tree in one direction, whatever of it is done already. Gives the paths that were left alone. */
function writeAll(store: Store, record: AppliedRecord, hosted: readonly HostedRoot[], direction: Direction): string[] {
	const left: string[] = [];
	for (const tree of hosted) {
		const applied = treeOf(record, tree);
		if (applied === null) continue;
		const alone = touchedPaths(store, record, applied, tree);
		const entries = applied.paths.filter(({ path }) => !alone.has(path));
		const stuck = stuckDirectories(store, record, applied, tree, entries, direction);
		const changes = entries
			.filter(({ path }) => !stuck.has(path))
			.map((entry) => changeTo(tree, entry.path, aimOf(store, record, applied, entry, direction)));
		const dates = direction === 'back' ? oldDates(store, record, applied, tree) : [];
		tree.host.apply([...changes, ...dates], resumeOptions(store, record, tree));
		left.push(...alone, ...stuck);
	}
	return left;
}

function resumeOptions(store: Store, { id, token, unlocked }: AppliedRecord, { root }: HostedRoot): ApplyOptions {
	return {
		durable: true,
		owner: 'possible',
		token,
		resumed: true,
		relock: new Map(unlocked.filter((noted) => noted.root === root.ino).map(({ path, mode }) => [path, mode])),
		onUnlock: (path, mode) => noteUnlocked(store, id, root.ino, path, mode),
	};
}

/** Paths that hold neither what was there before the apply nor what it writes: somebody else's since. */
function touchedPaths(store: Store, record: AppliedRecord, applied: AppliedTree, tree: HostedRoot): Set<string> {
	const touched = applied.paths.filter((entry) => {
		if (tree.host.statBare(entry.path) === null) return false;
		const isOurs = (direction: Direction) => hostHas(tree, entry.path, aimOf(store, record, applied, entry, direction));
		return !isOurs('forward') && !isOurs('back');
	});
	return new Set(touched.map(({ path }) => path));
}

/** Directories that are to go, but hold what the apply does not know of, and the directories above them that are to go. */
function stuckDirectories(
	store: Store,
	record: AppliedRecord,
	applied: AppliedTree,
	tree: HostedRoot,
	entries: readonly AppliedPath[],
	direction: Direction,
): Set<string> {
	const isOther = (path: string) => !goes.has(path) && baseName(path) !== `.dropcloth-${record.token}`;
	const stuck = new Set<string>();
	const goes = new Set<string>();
	for (const entry of [...entries].sort((a, b) => (a.path < b.path ? 1 : -1))) {
		const { path } = entry;
		const becomesDirectory = aimOf(store, record, applied, entry, direction)?.inode.kind === 'directory';
		const isDirectory = tree.host.statBare(path)?.kind === 'directory';
		if (isDirectory && !becomesDirectory && tree.host.list(path).some((name) => isOther(joinPath(path, name)))) {
			stuck.add(path);
		} else if (aimOf(store, record, applied, entry, direction) === null) goes.add(path);
	}
	return stuck;
}

/** The directories in which names came and went get their times back, and nothing else. */
function oldDates(store: Store, record: AppliedRecord, applied: AppliedTree, { host }: HostedRoot): Change[] {
	return applied.around.flatMap((path) => {
		const before = host.stat(path);
		const saved = savedBefore(store, record, applied, path);
		if (before?.kind !== 'directory' || saved === null) return [];
		const { mtime } = saved.inode;
		return [{ path, before, after: { ...before, mtime, opaque: false }, content: null, link: null, from: null }];
	});
}

function refuseTouched(store: Store, record: AppliedRecord, hosted: readonly HostedRoot[]): void {
	const touched = hosted.flatMap((tree) => {
		const applied = treeOf(record, tree);
		return applied === null ? [] : [...touchedPaths(store, record, applied, tree)];
	});
	if (touched.length > 0) throw changedSince(touched, '`apply --abort` takes the rest back and leaves them alone');
}

function refuseChangedSince(store: Store, record: AppliedRecord, hosted: readonly HostedRoot[]): void {
	const changed = hosted.flatMap((tree) => {
		const applied = treeOf(record, tree);
		if (applied === null) return [];
		const others = applied.paths.filter(
			(entry) => !hostHasExactly(tree, entry.path, aimOf(store, record, applied, entry, 'forward')),
		);
		const stuck = stuckDirectories(store, record, applied, tree, applied.paths, 'back');
		return [...new Set([...others.map(({ path }) => path), ...stuck])];
	});
	if (changed.length > 0) throw changedSince(changed, 'what was there before is in the snapshots before the apply');
}

function changedSince(paths: readonly string[], hint: string): Refusal {
	const named = paths.slice(0, 3).join(', ');
	const more = paths.length > 3 ? ` and ${paths.length - 3} more` : '';
	return new Refusal('drifted', 'host-changed', `changed on the host since the apply: ${named}${more}`, {
		hint,
		details: { paths },
	});
}

/** Snapshots since the apply read what was applied; they go on doing so. */
function keepHistory(store: Store, record: AppliedRecord, hosted: readonly HostedRoot[]): void {
	for (const tree of hosted) {
		const applied = treeOf(record, tree);
		if (applied === null) continue;
		const overwritten = applied.paths.map((entry) => {
			const thing = aimOf(store, record, applied, entry, 'forward');
			return { path: entry.path, before: thing?.inode ?? null, content: thing?.content ?? null };
		});
		writeOverwrittenIntoHistory(store, tree.root.ino, overwritten, { directory: (path) => tree.host.stat(path) });
	}
}
