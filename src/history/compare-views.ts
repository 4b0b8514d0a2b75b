import { joinPath } from '../base/paths.ts';
import type { MergedView, Place } from '../vfs/merged-view.ts';

/** One path at which two views may differ; at least one of them has something there. */
export interface PlacePair {
	readonly path: string;
	readonly from: Place | null;
	readonly to: Place | null;
}

/** What happened to a path. `mode`: only its mode, owner or attributes. `type`: it is another kind of thing now. */
export type ChangeWord = 'added' | 'removed' | 'modified' | 'renamed' | 'mode' | 'type';

/** A path that differs, and how; `fromPath` is where a renamed file was. */
export interface DifferingPlace extends PlacePair {
	readonly change: ChangeWord;
	readonly fromPath?: string;
}

/**
 * Every path at which two views over one base may differ, each once, a directory before what it holds. `candidates` are
 * the paths whose layer rows differ. Where a row hides or uncovers a whole directory (a whiteout, an opaque directory, a
 * changed kind), everything below it is looked at; nowhere else is a tree walked.
 */
export function* comparePlaces(
	from: MergedView,
	to: MergedView,
	candidates: Iterable<string>,
): Generator<PlacePair, undefined> {
	const seen = new Set<string>();
	for (const candidate of candidates) {
		const open = [candidate];
		for (let path = open.pop(); path !== undefined; path = open.pop()) {
			if (seen.has(path)) continue;
			seen.add(path);
			const pair = { path, from: from.place(path), to: to.place(path) };
			if (pair.from === null && pair.to === null) continue;
			yield pair;
			if (!differsBelow(pair)) continue;
			const names = new Set([...namesIn(from, pair.from, path), ...namesIn(to, pair.to, path)]);
			for (const name of names) open.push(joinPath(path, name));
		}
	}
}

/** Whether what the rows don't list may differ below: the base shows in one view only, or the directory is another one. */
function differsBelow({ from, to }: PlacePair): boolean {
	const fromDirectory = from?.inode.kind === 'directory' ? from : null;
	const toDirectory = to?.inode.kind === 'directory' ? to : null;
	if (fromDirectory === null || toDirectory === null) return fromDirectory !== toDirectory;
	if (fromDirectory.base !== toDirectory.base) return true;
	return fromDirectory.ino !== null && toDirectory.ino !== null && fromDirectory.ino !== toDirectory.ino;
}

function namesIn(view: MergedView, place: Place | null, path: string): readonly string[] {
	return place?.inode.kind === 'directory' ? view.list(path) : [];
}
