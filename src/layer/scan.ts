import type { Change } from '../base/change.ts';
import { systemClock } from '../base/clock.ts';
import type { Time } from '../base/inode.ts';
import { oneTickBefore } from './clock-tick.ts';
import { findRenames } from './find-renames.ts';
import { findLinkGroups } from './link-groups.ts';
import type { ScanMemory } from './scan-memory.ts';
import { FLAG_REREAD, FLAGS, RECORD_WORDS } from './scan-record.ts';
import { UpperContents } from './upper-content.ts';
import { UpperCursor } from './upper-cursor.ts';
import { type Touched, type Walked, type WalkOptions, walkUpper } from './upper-walk.ts';

export interface ScanOptions extends Pick<WalkOptions, 'unversioned' | 'alsoRehash' | 'only'> {
	/** Told of each path that the memory did not know, before the scan returns. */
	readonly onFirstSeen?: (path: string) => void;
	/** When the scan starts; the present by default. */
	readonly now?: Time;
}

/** What differs in an upper directory from what was remembered of it. */
export interface Scan {
	/**
	 * Each path once. One may turn out to be no change: a file that was written within the clock's last tick, or whose
	 * ctime moved, is read again. A removed directory stands for all that it held. `before` is never known.
	 */
	readonly changes: readonly Change[];
	/** To be kept once the changes are committed; the very same object when nothing differs. */
	readonly memory: ScanMemory;
	/** Files that changed while their content was read; complete when all contents were read. */
	readonly disturbed: ReadonlySet<string>;
	/** Gives back what is still open when some contents were not read. */
	close(): void;
}

/**
 * Compares an upper directory with what was remembered of it. Without a memory everything is new, and what the store has
 * and the scan does not must be found by the caller. The directory may be in use meanwhile: what moves during the scan is
 * found by the next one.
 *
 * Throws PosixError for what cannot be read.
 */
export function scanUpper(upperPath: string, memory: ScanMemory | null, options: ScanOptions = {}): Scan {
	const settledBefore = oneTickBefore(options.now ?? systemClock.now());
	const walked = walk(upperPath, memory, { ...options, settledBefore, read: (cursor, name) => cursor.readInode(name) });
	const contents = new UpperContents(upperPath);
	const changes = changesOf(memory, walked, contents, options.onFirstSeen);
	return { changes, memory: walked.memory, disturbed: contents.disturbed, close: () => contents.close() };
}

function walk(upperPath: string, memory: ScanMemory | null, options: WalkOptions): Walked {
	const cursor = UpperCursor.open(upperPath);
	try {
		return walkUpper(cursor, memory, options);
	} finally {
		cursor.close();
	}
}

function changesOf(
	old: ScanMemory | null,
	walked: Walked,
	contents: UpperContents,
	onFirstSeen: (path: string) => void = () => undefined,
): Change[] {
	const renames = findRenames(old, walked);
	const touched = walked.touched.filter(({ index }) => !renames.unchanged.has(index));
	const links = linksOf(walked.memory, touched);
	const gone = new Set([...walked.gone, ...renames.gone].map(({ path }) => path));
	const changes: Change[] = [];
	for (const name of touched) if (name.oldIndex < 0) onFirstSeen(name.path);
	for (const name of [...touched, ...links.untouched]) {
		const { index, path, inode } = name;
		const content = inode.kind === 'file' && !links.later.has(index) ? contentOf(walked.memory, name, contents) : null;
		const from = renames.from.get(index) ?? null;
		if (from !== null) gone.add(from);
		changes.push({ path, before: null, after: inode, content, link: links.byIndex.get(index) ?? null, from });
	}
	return [...Array.from(gone, removal), ...changes];
}

interface Links {
	/** Names the group of a record. */
	readonly byIndex: ReadonlyMap<number, string>;
	/** Records whose content comes with another name of their group. */
	readonly later: ReadonlySet<number>;
	/** Names that are in a group without having been touched. */
	readonly untouched: readonly Touched[];
}

function linksOf(memory: ScanMemory, touched: readonly Touched[]): Links {
	const groups = findLinkGroups(memory, touched);
	const known = new Set(groups.length === 0 ? [] : touched.map(({ index }) => index));
	return {
		byIndex: new Map(groups.flatMap(({ link, names }) => names.map(({ index }) => [index, link] as const))),
		later: new Set(groups.flatMap(({ names }) => names.slice(1).map(({ index }) => index))),
		untouched: groups.flatMap(({ names }) => names.filter(({ index }) => !known.has(index))),
	};
}

function contentOf({ records }: ScanMemory, { index, path, inode }: Touched, contents: UpperContents) {
	return contents.of(path, inode, () => {
		const flags = index * RECORD_WORDS + FLAGS;
		records[flags] = (records[flags] as number) | FLAG_REREAD;
	});
}

function removal(path: string): Change {
	return { path, before: null, after: null, content: null, link: null, from: null };
}
