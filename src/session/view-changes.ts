import type { Change } from '../base/change.ts';
import { type Inode, sameInode } from '../base/inode.ts';
import { parentPath } from '../base/paths.ts';
import { comparePlaces, type PlacePair } from '../history/compare-views.ts';
import type { MergedView } from '../vfs/merged-view.ts';
import { sameContent } from '../vfs/read-content.ts';

/**
 * What has to be written through a mounted overlay so that its readers see `to` in the place of `from`, as changes that know
 * of no whiteouts: what goes back to the base is written as a copy of what the base holds now. `rows` is how the layer's rows
 * differ.
 */
export function viewChanges(from: MergedView, to: MergedView, rows: readonly Change[]): Change[] {
	const byPath = new Map(rows.map((row) => [row.path, row]));
	const changes: Change[] = [];
	for (const pair of comparePlaces(from, to, byPath.keys())) {
		const change = changeOf(pair, byPath.get(pair.path), from, to);
		if (change !== null) changes.push(change);
	}
	return changes;
}

/**
 * The directories in which changes are made without being changed themselves, with the times that they are to have after it:
 * those of `to`, or of `from` for what `to` does not have.
 */
export function directoriesAround(changes: readonly Change[], from: MergedView, to: MergedView): Change[] {
	const changed = new Set(changes.map(({ path }) => path));
	const around = new Set(changes.map(({ path }) => parentPath(path)).filter((path) => !changed.has(path)));
	return [...around].flatMap((path) => {
		const inode = [to.stat(path), from.stat(path)].find((found) => found?.kind === 'directory');
		return inode ? [changeTo(path, from.stat(path), inode)] : [];
	});
}

/**
 * Whole link groups stay whole: where the name that brought the content was taken out of a list, another one brings it.
 */
export function withContents(changes: readonly Change[], to: MergedView): Change[] {
	const complete = new Set(changes.flatMap(({ link, content }) => (link !== null && content !== null ? [link] : [])));
	return changes.map((change) => {
		const { link, after, path } = change;
		if (link === null || after?.kind !== 'file' || complete.has(link)) return change;
		complete.add(link);
		return { ...change, content: to.content(path) };
	});
}

function changeOf(pair: PlacePair, row: Change | undefined, from: MergedView, to: MergedView): Change | null {
	const { path } = pair;
	const before = pair.from && asSeen(pair.from.inode);
	if (pair.to === null) return { path, before, after: null, content: null, link: null, from: null };
	const after = asSeen(pair.to.inode);
	if (pair.to.ino !== null) {
		if (row === undefined) return null;
		const isSame = before !== null && row.content === null && row.link === null && sameInode(before, after);
		return isSame ? null : { path, before, after, content: row.content, link: row.link, from: null };
	}
	// the base's own thing: seen already, or hidden by the layer until now
	if (pair.from !== null && pair.from.ino === null) return null;
	if (after.kind !== 'file') return before !== null && sameInode(before, after) ? null : changeTo(path, before, after);
	const isSame = before !== null && sameInode(before, after) && sameContent(from.content(path), to.content(path));
	return isSame ? null : { ...changeTo(path, before, after), content: to.content(path) };
}

/** That a directory hides the base is no business of those who read it. */
function asSeen(inode: Inode): Inode {
	return inode.opaque ? { ...inode, opaque: false } : inode;
}

function changeTo(path: string, before: Inode | null, inode: Inode): Change {
	return { path, before, after: asSeen(inode), content: null, link: null, from: null };
}
