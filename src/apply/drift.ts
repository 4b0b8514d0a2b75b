import type { Content } from '../base/change.ts';
import { type Inode, sameTime, type Time } from '../base/inode.ts';
import type { Origin } from '../store/origins.ts';
import { hashContent } from '../vfs/read-content.ts';

/**
 * How the host's path differs from what the session started from. `attributes`: something about it changed, but neither
 * content, target nor mode, which is all that an origin knows. `unknown`: what the session started from was not recorded,
 * or not in time, so it must be taken for changed, and is no base for a merge.
 */
export type Drift = 'none' | 'attributes' | 'mode' | 'content' | 'unknown';

/** What is known about where the session started from at one path. */
export interface StartingPoint {
	/** What was recorded; null when the session changed the path only by way of a directory above it. */
	readonly origin: Origin | null;
	/** A moment at which the session still saw the host here; what is stamped before it, the session has seen. */
	readonly seenAt: Time | null;
}

/**
 * Compares the host's state now with the starting point. Reads the file only when size and times leave it open. Throws
 * PosixError when it cannot be read.
 */
export function driftOf(theirs: Inode | null, start: StartingPoint, read: () => Content): Drift {
	const { origin, seenAt } = start;
	if (origin === null) {
		if (theirs === null) return 'none';
		return seenAt !== null && isBefore(theirs.ctime, seenAt) ? 'none' : 'unknown';
	}
	if (theirs === null) return origin.kind === 'absent' ? 'none' : 'content';
	if (origin.kind !== theirs.kind) return origin.trusted ? 'content' : 'unknown';
	if (theirs.kind === 'directory') return theirs.mode === origin.mode ? 'none' : 'mode';
	if (!origin.trusted) return 'unknown';
	if (isUntouched(theirs, origin)) return 'none';
	if (!sameBytes(theirs, origin, read)) return 'content';
	return theirs.mode === origin.mode ? 'attributes' : 'mode';
}

/** Whether the session's own state has the content, target and kind that it started from. */
export function isAsStarted(ours: Inode | null, origin: Origin, read: () => Content): boolean {
	if (ours === null) return origin.kind === 'absent';
	return ours.kind === origin.kind && sameBytes(ours, origin, read);
}

/** The kernel sets ctime at every change and lets nobody choose it. */
function isUntouched(inode: Inode, origin: Origin): boolean {
	return (
		inode.size === origin.size &&
		inode.mode === origin.mode &&
		sameTime(inode.mtime, origin.mtime) &&
		sameTime(inode.ctime, origin.ctime)
	);
}

/** Devices are told apart by nothing that an origin holds. */
function sameBytes(inode: Inode, origin: Origin, read: () => Content): boolean {
	switch (inode.kind) {
		case 'file':
			return inode.size === origin.size && origin.hash !== null && hashContent(read()) === origin.hash.toString('hex');
		case 'symlink':
			return inode.target === origin.target;
		case 'char':
		case 'block':
			return isUntouched(inode, origin);
		default:
			return true;
	}
}

/** Whether one time is before another. */
export function isBefore(a: Time, b: Time): boolean {
	return a.sec < b.sec || (a.sec === b.sec && a.nsec < b.nsec);
}
