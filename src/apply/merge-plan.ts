/**
 * What an apply would do to one tree of the host, as a value: the same for a dry run and for the real thing. Nothing is
 * written here.
 */
import { type Change, type Content, PIECE_BYTES } from '../base/change.ts';
import { type Inode, sameTime, type Time } from '../base/inode.ts';
import { ancestorPaths } from '../base/paths.ts';
import { comparePlaces } from '../history/compare-views.ts';
import type { Origin } from '../store/origins.ts';
import type { MergedView, Place } from '../vfs/merged-view.ts';
import { type Decision, decidePath, takeOurs, type Verdict } from './decide-path.ts';
import type { StartingPoint } from './drift.ts';
import { linkNames } from './link-names.ts';

/** One tree of a session over the host directory that it is to be applied to. */
export interface ApplyTarget {
	/** The host as it is. */
	readonly theirs: MergedView;
	/** The session's state that is applied, over the same host directory. */
	readonly ours: MergedView;
	/** Paths of which the layer has a row. */
	readonly candidates: Iterable<string>;
	readonly startOf: (path: string) => StartingPoint;
	/** The tree's root directory as the session first had it; null when that is not known. */
	readonly firstRoot: Inode | null;
	readonly originContent: (origin: Origin) => Buffer | null;
}

/** What the user asked for. */
export interface PlanOptions {
	/** What happens to conflicts. */
	readonly resolve: 'ask' | 'ours' | 'theirs';
	/** Which paths are applied at all. */
	readonly selects: (path: string) => boolean;
	readonly now: Time;
}

/** One path that both sides changed and that could not be merged. */
export interface Conflict {
	readonly path: string;
	readonly reason: string;
}

/** What an apply does to one tree. */
export interface TargetPlan {
	/** For HostTree.apply. Empty while there are conflicts that nobody resolved. */
	readonly changes: readonly Change[];
	/** What becomes of the root directory itself, which is neither shown nor counted; null when it stays as it is. */
	readonly rootChange: Change | null;
	/** Paths of `changes` whose content is the merge of both sides. */
	readonly merged: ReadonlySet<string>;
	readonly conflicts: readonly Conflict[];
	/** Every path that was decided: the host has, or will have, what the session is to read there afterwards. */
	readonly settled: readonly string[];
}

/** Decides every path. Throws PosixError when a file of either side cannot be read. */
export function planTarget(target: ApplyTarget, options: PlanOptions): TargetPlan {
	const decisions = new Map<string, Decision>();
	const untouched: string[] = [];
	for (const { path, from, to } of comparePlaces(target.theirs, target.ours, target.candidates)) {
		if (path === '' || (from?.ino === null && to?.ino === null)) continue;
		if (!options.selects(path)) {
			if (from !== null) untouched.push(path);
			continue;
		}
		decisions.set(path, { path, ours: to, theirs: from, verdict: decide(target, options, path, to, from), link: null });
	}
	const inOrder = [...decisions.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
	keepWhatHoldsKept(decisions, inOrder, untouched);
	makeRoom(target, decisions, inOrder, options);
	linkNames(target.ours, decisions);
	return planOf(target, inOrder);
}

function decide(
	{ theirs, ours, startOf, originContent }: ApplyTarget,
	{ resolve, now }: PlanOptions,
	path: string,
	to: Place | null,
	from: Place | null,
): Verdict {
	const verdict = decidePath({
		path,
		ours: to?.inode ?? null,
		theirs: from?.inode ?? null,
		start: startOf(path),
		readOurs: () => ours.content(path),
		readTheirs: () => theirs.content(path),
		originContent,
		now,
	});
	if (verdict.take !== 'conflict' || resolve === 'ask') return verdict;
	return resolve === 'ours' ? takeOurs(to?.inode ?? null) : { take: 'theirs' };
}

/** What will be at a path of the host: what is decided, else what is there. */
function finalInode({ verdict, theirs }: Decision): Inode | null {
	return verdict.take === 'ours' || verdict.take === 'merged' ? verdict.after : (theirs?.inode ?? null);
}

/** A directory that holds something that stays on the host stays too. */
function keepWhatHoldsKept(
	decisions: ReadonlyMap<string, Decision>,
	inOrder: readonly Decision[],
	untouched: readonly string[],
): void {
	const kept = inOrder.filter(
		({ theirs, verdict }) => theirs !== null && verdict.take !== 'ours' && verdict.take !== 'merged',
	);
	for (const path of [...untouched, ...kept.map((decision) => decision.path)]) {
		for (const ancestor of ancestorPaths(path)) {
			const above = decisions.get(ancestor);
			if (above === undefined || finalInode(above)?.kind === 'directory') continue;
			if (above.verdict.take !== 'conflict') above.verdict = { take: 'theirs' };
		}
	}
}

/** Whatever is written needs its directories: missing ones are made, and where the host has something else, it can't be. */
function makeRoom(
	target: ApplyTarget,
	decisions: Map<string, Decision>,
	inOrder: Decision[],
	{ resolve }: PlanOptions,
): void {
	for (const decision of [...inOrder]) {
		if (finalInode(decision) === null || (decision.verdict.take !== 'ours' && decision.verdict.take !== 'merged'))
			continue;
		for (const ancestor of ancestorPaths(decision.path)) {
			if (ancestor === '') continue;
			const above = decisions.get(ancestor) ?? unselected(target, ancestor);
			if (finalInode(above)?.kind === 'directory') continue;
			if (finalInode(above) === null && above.ours?.inode.kind === 'directory') {
				above.verdict = takeOurs(above.ours.inode);
				if (!decisions.has(ancestor)) inOrder.push(above);
				decisions.set(ancestor, above);
				continue;
			}
			const reason = `${ancestor} is no directory on the host`;
			decision.verdict = resolve === 'theirs' ? { take: 'theirs' } : { take: 'conflict', reason };
			break;
		}
	}
}

function unselected({ ours, theirs }: ApplyTarget, path: string): Decision {
	return { path, ours: ours.place(path), theirs: theirs.place(path), verdict: { take: 'theirs' }, link: null };
}

function planOf(target: ApplyTarget, decisions: readonly Decision[]): TargetPlan {
	const conflicts = decisions.flatMap(({ path, verdict }) =>
		verdict.take === 'conflict' ? [{ path, reason: verdict.reason }] : [],
	);
	const changes = conflicts.length > 0 ? [] : decisions.flatMap((decision) => changeOf(target, decision) ?? []);
	const merged = decisions.filter(({ verdict }) => verdict.take === 'merged').map(({ path }) => path);
	return {
		changes,
		rootChange: changes.length === 0 ? null : rootChange(target),
		merged: new Set(merged),
		conflicts: conflicts.sort((a, b) => (a.path < b.path ? -1 : 1)),
		settled: decisions.map(({ path }) => path),
	};
}

/** Every change of a plan, the root directory's too: what is written. */
export function everyChange({ changes, rootChange: root }: TargetPlan): readonly Change[] {
	return root === null ? changes : [...changes, root];
}

/** Of the root directory only what the session itself changed is taken, and never against the host. */
function rootChange({ ours, theirs, firstRoot }: ApplyTarget): Change | null {
	const [now, before] = [ours.stat(''), theirs.stat('')];
	if (now === null || before === null || firstRoot === null) return null;
	const mode = now.mode !== firstRoot.mode && before.mode === firstRoot.mode ? now.mode : before.mode;
	const mtime = sameTime(now.mtime, firstRoot.mtime) ? before.mtime : now.mtime;
	if (mode === before.mode && sameTime(mtime, before.mtime)) return null;
	return { path: '', before, after: { ...before, mode, mtime, opaque: false }, content: null, link: null, from: null };
}

function changeOf(target: ApplyTarget, { path, theirs, verdict, link }: Decision): Change | null {
	if (verdict.take !== 'ours' && verdict.take !== 'merged') return null;
	const before = theirs?.inode ?? null;
	const after = verdict.after === null ? null : { ...verdict.after, opaque: false };
	return { path, before, after, content: contentOf(target, path, verdict), link, from: null };
}

function contentOf({ ours }: ApplyTarget, path: string, verdict: Verdict): Content | null {
	if (verdict.take === 'merged') return bufferContent(verdict.data);
	return verdict.take === 'ours' && verdict.after?.kind === 'file' && verdict.bytes === 'ours'
		? ours.content(path)
		: null;
}

/** Bytes in memory as a content. */
export function bufferContent(data: Buffer): Content {
	return {
		size: data.length,
		*pieces() {
			for (let offset = 0; offset < data.length; offset += PIECE_BYTES) {
				yield { offset, data: data.subarray(offset, offset + PIECE_BYTES) };
			}
		},
	};
}
