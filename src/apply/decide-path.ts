import type { Content } from '../base/change.ts';
import { type Inode, sameInode, type Time } from '../base/inode.ts';
import type { Origin } from '../store/origins.ts';
import type { Place } from '../vfs/merged-view.ts';
import { readContent, sameContent } from '../vfs/read-content.ts';
import { type Drift, driftOf, isAsStarted, type StartingPoint } from './drift.ts';
import { mergeText } from './merge-text.ts';

/** One path as the session has it, as the host has it, and where they started from. */
export interface PathState {
	readonly path: string;
	/** Null when the session has nothing there. */
	readonly ours: Inode | null;
	/** Null when the host has nothing there. */
	readonly theirs: Inode | null;
	readonly start: StartingPoint;
	readonly readOurs: () => Content;
	readonly readTheirs: () => Content;
	/** The file that the session started from; null when it was not kept. */
	readonly originContent: (origin: Origin) => Buffer | null;
	/** For the times of merged files. */
	readonly now: Time;
}

/** What is to be done with a path on the host. */
export type Verdict =
	/** Both are the same already. */
	| { readonly take: 'nothing' }
	/** The host keeps its own. */
	| { readonly take: 'theirs' }
	/** The host gets this; `bytes` where they come from, `kept` when the host's file has them already. */
	| { readonly take: 'ours'; readonly after: Inode | null; readonly bytes: 'ours' | 'kept' }
	| { readonly take: 'merged'; readonly after: Inode; readonly data: Buffer }
	| { readonly take: 'conflict'; readonly reason: string };

/** A path under decision. */
export interface Decision {
	readonly path: string;
	readonly ours: Place | null;
	readonly theirs: Place | null;
	verdict: Verdict;
	/** A hard link's group. */
	link: string | null;
}

/**
 * Three-way: what only the session changed is taken, what only the host changed stays, what both changed is merged where
 * that is possible line by line, and is a conflict otherwise. Throws PosixError when a file cannot be read.
 */
export function decidePath(state: PathState): Verdict {
	const { ours, theirs, start } = state;
	const bytesAreSame = isSameThing(state);
	if (ours === null && theirs === null) return { take: 'nothing' };
	if (bytesAreSame && ours !== null && theirs !== null && sameToReader(ours, theirs)) return { take: 'nothing' };
	const drift = driftOf(theirs, start, state.readTheirs);
	if (drift === 'none') return takeOurs(ours, bytesAreSame);
	if (ours === null || theirs === null || ours.kind !== theirs.kind) return decideUnlike(state, drift);
	return decideAlike(state, ours, theirs, drift, bytesAreSame);
}

/** The session's state as it is, whatever the host has. */
export function takeOurs(ours: Inode | null, bytesAreSame = false): Verdict {
	return { take: 'ours', after: ours, bytes: bytesAreSame ? 'kept' : 'ours' };
}

/** The host changed it, and the two are not of one kind any more. */
function decideUnlike(state: PathState, drift: Drift): Verdict {
	const { ours, theirs, start } = state;
	if (start.origin !== null && isAsStarted(ours, start.origin, state.readOurs)) return { take: 'theirs' };
	if (drift === 'attributes' || (theirs === null && ours?.kind === 'directory')) return takeOurs(ours);
	return { take: 'conflict', reason: unlikeReason(ours, theirs, start.origin) };
}

function unlikeReason(ours: Inode | null, theirs: Inode | null, origin: Origin | null): string {
	if (ours === null) return 'deleted in the session, changed on the host';
	if (theirs === null) return 'changed in the session, deleted on the host';
	if (origin?.kind === 'absent') return `made in the session as a ${ours.kind} and on the host as a ${theirs.kind}`;
	return `a ${ours.kind} in the session, a ${theirs.kind} on the host`;
}

/** The host changed it; both have a thing of the same kind. */
function decideAlike(state: PathState, ours: Inode, theirs: Inode, drift: Drift, bytesAreSame: boolean): Verdict {
	const { origin } = state.start;
	const mode = mergedMode(ours, theirs, origin);
	if (mode === null) return { take: 'conflict', reason: 'both changed its mode' };
	const xattrs = mergedXattrs(ours, theirs);
	if (xattrs === null) return { take: 'conflict', reason: 'both changed its extended attributes' };
	const attributes = { mode, uid: theirs.uid, gid: theirs.gid, xattrs };
	const oursIsAsStarted = origin !== null && isAsStarted(ours, origin, state.readOurs);
	if (ours.kind === 'directory' || bytesAreSame || oursIsAsStarted) {
		const after = { ...theirs, ...attributes };
		return sameToReader(after, theirs) ? { take: 'theirs' } : { take: 'ours', after, bytes: 'kept' };
	}
	if (drift === 'attributes' || drift === 'mode') {
		return { take: 'ours', after: { ...ours, ...attributes }, bytes: 'ours' };
	}
	return mergeFiles(state, ours, drift, attributes);
}

function mergeFiles(state: PathState, ours: Inode, drift: Drift, attributes: Partial<Inode>): Verdict {
	const { origin } = state.start;
	if (ours.kind !== 'file') return { take: 'conflict', reason: `both changed this ${ours.kind}` };
	if (origin?.kind === 'absent') return { take: 'conflict', reason: 'made on both sides with different content' };
	const base = origin === null || drift === 'unknown' ? null : state.originContent(origin);
	if (base === null) return { take: 'conflict', reason: 'both changed it, and what it was before is not known' };
	const theirText = bytesOf(state.readTheirs());
	const ourText = bytesOf(state.readOurs());
	if (theirText === null || ourText === null)
		return { take: 'conflict', reason: 'both changed it, and it is too large to merge' };
	const merge = mergeText(base, ourText, theirText);
	if ('conflict' in merge) return { take: 'conflict', reason: merge.conflict };
	const after = { ...ours, ...attributes, size: merge.merged.length, mtime: state.now };
	return { take: 'merged', after, data: merge.merged };
}

/** Null when both changed it to different ones. */
function mergedMode(ours: Inode, theirs: Inode, origin: Origin | null): number | null {
	if (ours.mode === theirs.mode) return ours.mode;
	if (origin === null || !origin.trusted || origin.kind !== ours.kind) return null;
	if (ours.mode === origin.mode) return theirs.mode;
	return theirs.mode === origin.mode ? ours.mode : null;
}

/** An origin does not hold attributes: all of both sides, or null when they give one name different values. */
function mergedXattrs(ours: Inode, theirs: Inode): Inode['xattrs'] | null {
	for (const [name, value] of ours.xattrs) {
		const other = theirs.xattrs.get(name);
		if (other !== undefined && !other.equals(value)) return null;
	}
	return ours.xattrs.size === 0 ? theirs.xattrs : new Map([...theirs.xattrs, ...ours.xattrs]);
}

function isSameThing({ ours, theirs, readOurs, readTheirs }: PathState): boolean {
	if (ours === null || theirs === null || ours.kind !== theirs.kind) return false;
	if (ours.kind === 'file') return ours.size === theirs.size && sameContent(readOurs(), readTheirs());
	return ours.target === theirs.target && ours.rdev === theirs.rdev;
}

/** Equal but for what only a layer has, and for the size of a directory, which is its filesystem's affair. */
function sameToReader(a: Inode, b: Inode): boolean {
	return sameInode({ ...a, size: b.size, opaque: b.opaque }, b);
}

/** A file that large was hardly written by hand. */
const MERGE_BYTES = 8 * 1024 * 1024;

function bytesOf(content: Content): Buffer | null {
	return content.size > MERGE_BYTES ? null : readContent(content);
}
