import type { Change } from '../base/change.ts';
import type { Inode } from '../base/inode.ts';
import { baseName, parentPath } from '../base/paths.ts';
import { PosixError } from '../base/posix-error.ts';
import { assertTreePath } from './tree-path.ts';

/** A change, with what is asked of it again and again. */
export interface PlannedChange {
	/** In the list that was given. */
	readonly index: number;
	readonly change: Change;
	readonly path: string;
	readonly parent: string;
	readonly name: string;
}

/** A change after which there is something. */
export interface Placement extends PlannedChange {
	readonly after: Inode;
}

/** Changes in the order in which a tree can take them. */
export interface ChangePlan {
	/** Everything, each directory before what is in it; the root is not among them. */
	readonly all: readonly PlannedChange[];
	/** Directories that are to be there, the root too, each before what is in it. */
	readonly directories: readonly Placement[];
	/** What else is to be there, one inode after the other: alone, or with all its names. */
	readonly inodes: readonly (readonly Placement[])[];
}

/**
 * Orders changes and checks them. Throws PosixError EINVAL for a path that leaves the tree; what a caller must not ask (two
 * changes of one path, a whiteout, which only means something in a layer, or no root) is a bug and a plain Error.
 */
export function planChanges(changes: readonly Change[]): ChangePlan {
	const all = changes.map(planOne);
	all.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
	assertDistinct(all);
	const placements = all.filter((planned): planned is Placement => planned.change.after !== null);
	return {
		all: all.filter((planned) => planned.path !== ''),
		directories: placements.filter((placement) => placement.after.kind === 'directory'),
		inodes: groupByLink(placements.filter((placement) => placement.after.kind !== 'directory')),
	};
}

function planOne(change: Change, index: number): PlannedChange & { after: Inode | null } {
	const { path, after } = change;
	assertTreePath(path);
	if (path === '' && after?.kind !== 'directory') throw new PosixError('ENOTDIR', 'apply', path);
	if (after?.kind === 'whiteout') throw new Error(`a whiteout of ${path} means nothing outside a layer`);
	return { index, change, path, parent: parentPath(path), name: baseName(path), after };
}

function assertDistinct(sorted: readonly PlannedChange[]): void {
	for (let at = 1; at < sorted.length; at += 1) {
		const path = sorted[at]?.path;
		if (path === sorted[at - 1]?.path) throw new Error(`two changes of one path: ${path}`);
	}
}

function groupByLink(placements: readonly Placement[]): Placement[][] {
	const groups: Placement[][] = [];
	const byLink = new Map<string, Placement[]>();
	for (const placement of placements) {
		const { link } = placement.change;
		const known = link === null ? undefined : byLink.get(link);
		if (known !== undefined) {
			known.push(placement);
			continue;
		}
		const group = [placement];
		groups.push(group);
		if (link !== null) byLink.set(link, group);
	}
	return groups;
}
