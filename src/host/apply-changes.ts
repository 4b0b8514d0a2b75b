import type { Change } from '../base/change.ts';
import { aboutPath, errorCode } from '../base/posix-error.ts';
import type { ApplyOptions } from './apply-options.ts';
import { ApplyRun } from './apply-run.ts';
import { makeDirectoryIn, removeDirectoryIn, unlinkIn } from './entries.ts';
import { statIn } from './host-stat.ts';
import { placeInode } from './place-inode.ts';
import { type ChangePlan, type Placement, type PlannedChange, planChanges } from './plan-changes.ts';

/**
 * Writes changes to the tree below an open directory. Does nothing that the list does not say: a directory that holds
 * anything unlisted is not removed (ENOTEMPTY). Done again after it was cut short anywhere, it ends at the same tree.
 * Throws PosixError with the path; what was done until then stays, but for the modes of unlocked directories.
 *
 * The order: what goes, deepest first; directories; everything else, each inode complete under a temporary name before it
 * is renamed to its own; at last, deepest first, what directories are, since writing in them moves their times. A directory
 * that is not listed has the times that this gave it.
 */
export function applyChanges(root: number, changes: readonly Change[], options: ApplyOptions): void {
	const plan = planChanges(changes);
	const run = new ApplyRun(root, options);
	try {
		if (options.resumed === true) takeAwayTemporaries(run, plan);
		if (options.fresh !== true) for (const planned of plan.all.toReversed()) naming(planned, () => clear(run, planned));
		for (const placement of plan.directories) naming(placement, () => makeDirectory(run, placement));
		for (const names of plan.inodes) naming(names[0], () => placeInode(run, names));
		run.finishDirectories(plan.directories);
	} catch (error) {
		run.relockAfter(error);
		throw error;
	} finally {
		run.close();
	}
}

function takeAwayTemporaries(run: ApplyRun, plan: ChangePlan): void {
	for (const parent of new Set(plan.all.map((planned) => planned.parent))) {
		try {
			unlinkIn(run.directories.at(parent), run.temporary);
		} catch (error) {
			if (!isAbsent(error)) throw error;
		}
	}
}

/** Takes away what is at a path when nothing is to be there, or when one of the two is a directory and the other not. */
function clear(run: ApplyRun, planned: PlannedChange): void {
	const directory = existingParent(run, planned);
	const current = directory === null ? null : statIn(directory, planned.name);
	if (directory === null || current === null) return;
	const { after } = planned.change;
	const isDirectory = current.kind === 'directory';
	if (after !== null && (after.kind === 'directory') === isDirectory) return;
	run.step(planned);
	if (isDirectory) {
		run.forget(planned.path);
		removeDirectoryIn(directory, planned.name);
	} else {
		unlinkIn(directory, planned.name);
	}
}

function existingParent(run: ApplyRun, planned: PlannedChange): number | null {
	try {
		return run.directories.at(planned.parent);
	} catch (error) {
		if (isAbsent(error)) return null;
		throw error;
	}
}

/** Made for us alone until all is in it; one that is there already stays. */
function makeDirectory(run: ApplyRun, placement: Placement): void {
	if (placement.path === '') return;
	const directory = run.directories.at(placement.parent);
	if (run.options.fresh !== true && statIn(directory, placement.name)?.kind === 'directory') return;
	run.step(placement);
	makeDirectoryIn(directory, placement.name, 0o700);
	run.made(placement);
}

/** Failures name the whole path, not the name that the system call was given. */
function naming(planned: PlannedChange | undefined, work: () => void): void {
	try {
		work();
	} catch (error) {
		throw planned === undefined ? error : aboutPath(error, planned.path);
	}
}

function isAbsent(error: unknown): boolean {
	const code = errorCode(error);
	return code === 'ENOENT' || code === 'ENOTDIR';
}
