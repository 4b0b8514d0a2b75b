import type { Change, Content } from '../base/change.ts';
import type { Inode } from '../base/inode.ts';
import type { Store } from '../store/store.ts';
import { sameContent } from '../vfs/read-content.ts';
import type { AppliedPath, AppliedRecord, AppliedTree } from './applied-record.ts';
import { savedBefore, savedMerge } from './saved-copy.ts';
import type { HostedRoot } from './starting-points.ts';

/** What is, or is to be, at a path. */
export interface HostThing {
	readonly inode: Inode;
	readonly content: Content | null;
	readonly link: string | null;
}

/** Which way the host is written: to what the session has, or back to what was there. */
export type Direction = 'forward' | 'back';

/** What a path of an apply becomes in one direction; null when nothing is to be there. */
export function aimOf(
	store: Store,
	record: AppliedRecord,
	tree: AppliedTree,
	entry: AppliedPath,
	direction: Direction,
): HostThing | null {
	const { path, after, bytes, link } = entry;
	if (direction === 'back') return entry.wasThere ? savedBefore(store, record, tree, path) : null;
	if (after === null) return null;
	if (after.kind !== 'file') return { inode: after, content: null, link };
	if (bytes === 'merged') return { inode: after, content: savedMerge(store, record, tree, path), link };
	if (bytes === 'kept') {
		return { inode: after, content: savedBefore(store, record, tree, path)?.content ?? null, link };
	}
	const view = store.tree.at(record.snapshot);
	const ino = view.resolve(tree.root, path);
	if (ino === null || ino === 0)
		throw new Error(`snapshot ${record.snapshot} has lost ${path}, which is being applied`);
	return { inode: after, content: view.content(ino), link };
}

/** Whether the host has this at a path: kind and content, which a write that was cut short leaves whole. */
export function hostHas({ host }: HostedRoot, path: string, thing: HostThing | null): boolean {
	const now = host.stat(path);
	if (now === null || thing === null) return now === null && thing === null;
	const { inode, content } = thing;
	if (now.kind !== inode.kind) return false;
	if (now.kind !== 'file') return now.target === inode.target && now.rdev === inode.rdev;
	return now.size === inode.size && (content === null || sameContent(content, host.content(path, now.size)));
}

/** Whether nobody touched it since it was written: mode, and but for directories time, as well. */
export function hostHasExactly(hosted: HostedRoot, path: string, thing: HostThing | null): boolean {
	if (!hostHas(hosted, path, thing)) return false;
	const now = hosted.host.stat(path);
	if (now === null || thing === null) return true;
	const { mode, mtime, kind } = thing.inode;
	const sameMoment = now.mtime.sec === mtime.sec && now.mtime.nsec === mtime.nsec;
	return (kind === 'symlink' || now.mode === mode) && (kind === 'directory' || sameMoment);
}

/** The change that gives the host this; its content is left out where the host has it already. */
export function changeTo({ host }: HostedRoot, path: string, aim: HostThing | null): Change {
	const before = host.stat(path);
	if (aim === null) return { path, before, after: null, content: null, link: null, from: null };
	const { inode, content, link } = aim;
	const hasBytes =
		content !== null &&
		before?.kind === 'file' &&
		before.size === inode.size &&
		sameContent(content, host.content(path, before.size));
	return { path, before, after: { ...inode, opaque: false }, content: hasBytes ? null : content, link, from: null };
}
