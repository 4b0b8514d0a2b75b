import { type Inode, type Kind, sameInode } from '../base/inode.ts';
import type { MergedView } from '../vfs/merged-view.ts';
import { hashContent, sameContent } from '../vfs/read-content.ts';
import { type ChangeWord, comparePlaces, type DifferingPlace, type PlacePair } from './compare-views.ts';
import { pairRenames } from './renames.ts';

/** One difference between two states as people and scripts see it: `diff --json` prints these. */
export interface DiffEntry {
	readonly path: string;
	readonly change: ChangeWord;
	/** Where a renamed file was. */
	readonly fromPath?: string;
	/** What is there now; of a removed path, what was. */
	readonly kind: Kind;
	readonly oldKind: Kind | null;
	/** Permission bits now; of a removed path, those it had. */
	readonly mode: number;
	readonly oldMode: number | null;
	/** Bytes now; null when removed. */
	readonly size: number | null;
	/** Bytes before; null when added. */
	readonly oldSize: number | null;
	/** SHA-256 of a file's content in hex; null for what is no file, and when hashes were not asked for. */
	readonly hash: string | null;
	readonly oldHash: string | null;
}

/** How to compare. */
export interface DiffOptions {
	/** Fill in the hashes, which reads every file that was added, removed or changed. Default true. */
	readonly hashes?: boolean;
	/** Leaves out what a user did not ask about. */
	readonly include?: (path: string) => boolean;
}

/**
 * What differs between two views: deletions first, then the rest, each sorted by path. A file that was written again with
 * the same bytes is not listed, nor is one of which only times differ. The root directory itself is never listed.
 */
export function diffViews(
	from: MergedView,
	to: MergedView,
	candidates: Iterable<string>,
	options: DiffOptions = {},
): DiffEntry[] {
	const { hashes = true, include = () => true } = options;
	const differing: DifferingPlace[] = [];
	for (const pair of comparePlaces(from, to, candidates)) {
		if (pair.path === '' || !include(pair.path)) continue;
		const change = changeAt(from, to, pair);
		if (change !== null) differing.push({ ...pair, change });
	}
	const entries = pairRenames(from, to, differing).map((place) => entryOf(from, to, place, hashes));
	return entries.sort((a, b) => Number(b.change === 'removed') - Number(a.change === 'removed') || byPath(a, b));
}

/**
 * Whether two views are the same state: content, kinds, modes, owners, attributes and modification times, the root
 * directory and the times of directories aside (a temporary file that came and went moves those).
 */
export function sameViews(from: MergedView, to: MergedView, candidates: Iterable<string>): boolean {
	for (const pair of comparePlaces(from, to, candidates)) {
		if (pair.path !== '' && !sameState(from, to, pair)) return false;
	}
	return true;
}

function changeAt(from: MergedView, to: MergedView, { path, from: old, to: now }: PlacePair): ChangeWord | null {
	if (old === null) return 'added';
	if (now === null) return 'removed';
	if (old.ino === null && now.ino === null) return null;
	if (old.inode.kind !== now.inode.kind) return 'type';
	const sameBytes = old.inode.kind !== 'file' || isSameFile(from, to, path, old.inode, now.inode);
	if (!sameBytes || old.inode.target !== now.inode.target || old.inode.rdev !== now.inode.rdev) return 'modified';
	return sameInode(old.inode, { ...now.inode, size: old.inode.size, ...unlistedFields(old.inode) }) ? null : 'mode';
}

/** What people are not told about: times, and whether a directory is opaque. */
function unlistedFields({ mtime, opaque }: Inode): Pick<Inode, 'mtime' | 'opaque'> {
	return { mtime, opaque };
}

function sameState(from: MergedView, to: MergedView, { path, from: old, to: now }: PlacePair): boolean {
	if (old === null || now === null) return false;
	if (old.ino === null && now.ino === null) return true;
	const isDirectory = old.inode.kind === 'directory';
	const seen = isDirectory ? { ...now.inode, size: old.inode.size, ...unlistedFields(old.inode) } : now.inode;
	if (!sameInode(old.inode, seen)) return false;
	return old.inode.kind !== 'file' || isSameFile(from, to, path, old.inode, now.inode);
}

function isSameFile(from: MergedView, to: MergedView, path: string, old: Inode, now: Inode): boolean {
	return old.size === now.size && sameContent(from.content(path), to.content(path));
}

function entryOf(from: MergedView, to: MergedView, place: DifferingPlace, hashes: boolean): DiffEntry {
	const { path, change, fromPath, from: old, to: now } = place;
	const shown = now ?? old;
	if (shown === null) throw new Error(`nothing was and nothing is at ${path}`);
	const hashAt = (view: MergedView, at: string, inode: Inode | undefined) =>
		hashes && inode?.kind === 'file' ? hashContent(view.content(at)) : null;
	return {
		path,
		change,
		...(fromPath === undefined ? {} : { fromPath }),
		kind: shown.inode.kind,
		oldKind: old?.inode.kind ?? null,
		mode: shown.inode.mode,
		oldMode: old?.inode.mode ?? null,
		size: now?.inode.size ?? null,
		oldSize: old?.inode.size ?? null,
		hash: hashAt(to, path, now?.inode),
		oldHash: hashAt(from, fromPath ?? path, old?.inode),
	};
}

function byPath(a: DiffEntry, b: DiffEntry): number {
	return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}
