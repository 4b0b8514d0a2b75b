import type { Change, Content } from '../base/change.ts';
import { type Inode, WHITEOUT } from '../base/inode.ts';
import { ancestorPaths } from '../base/paths.ts';
import type { Store } from '../store/store.ts';
import type { AppliedRecord, AppliedTree } from './applied-record.ts';
import { everyChange } from './merge-plan.ts';
import type { PlannedTree } from './plan-apply.ts';

/** What the host had at a path. */
export interface SavedThing {
	readonly inode: Inode;
	/** Null for what is no file. */
	readonly content: Content | null;
	/** Saved names with the same one were one inode. */
	readonly link: string | null;
}

/**
 * The changes that put a copy of what an apply overwrites, and the bytes that it merged, under a saved root of the store.
 * The directories above are copied as well, for their times.
 */
export function savedChanges(trees: readonly PlannedTree[]): Change[] {
	const changes = new Map<string, Change>();
	const add = (path: string, after: Inode, content: Content | null, link: string | null = null) => {
		if (!changes.has(path))
			changes.set(path, { path, before: null, after: { ...after, opaque: false }, content, link, from: null });
	};
	for (const { root, host, plan } of trees) {
		add('before', DIRECTORY, null);
		for (const { path, before } of everyChange(plan)) {
			for (const ancestor of ancestorPaths(path)) {
				const directory = host.stat(ancestor);
				if (directory?.kind === 'directory') add(beforePath(root.ino, ancestor), directory, null);
			}
			if (before === null) continue;
			const content = before.kind === 'file' ? host.content(path, before.size) : null;
			add(beforePath(root.ino, path), before, content, linkOf(before, root.ino));
		}
		for (const { path, after, content } of everyChange(plan)) {
			if (!plan.merged.has(path) || after === null) continue;
			add('merged', DIRECTORY, null);
			for (const ancestor of ancestorPaths(path)) add(mergedPath(root.ino, ancestor), DIRECTORY, null);
			add(mergedPath(root.ino, path), after, content);
		}
	}
	return withoutLonelyLinks([...changes.values()]);
}

/** What the host had at a path before an apply; null when nothing was there, or the path is not part of it. */
export function savedBefore(
	store: Store,
	record: AppliedRecord,
	{ root }: AppliedTree,
	path: string,
): SavedThing | null {
	return savedAt(store, record.saved, beforePath(root, path));
}

/** The merged bytes that an apply wrote to a path. */
export function savedMerge(store: Store, record: AppliedRecord, { root }: AppliedTree, path: string): Content {
	const found = savedAt(store, record.saved, mergedPath(root, path));
	if (found?.content == null) throw new Error(`apply ${record.id} has lost what it merged at ${path}`);
	return found.content;
}

/** Holds what was saved; a whiteout has every other field empty. */
const DIRECTORY: Inode = { ...WHITEOUT, kind: 'directory', mode: 0o700 };

function beforePath(root: number, path: string): string {
	return path === '' ? `before/${root}` : `before/${root}/${path}`;
}

function mergedPath(root: number, path: string): string {
	return path === '' ? `merged/${root}` : `merged/${root}/${path}`;
}

function savedAt(store: Store, saved: number, path: string): SavedThing | null {
	const view = store.tree.at('now');
	const ino = view.resolve(saved, path);
	if (ino === null || ino === 0) return null;
	const inode = view.inode(ino);
	const link = inode.kind !== 'directory' && inode.nlink > 1 ? `saved ${ino}` : null;
	return { inode, content: inode.kind === 'file' ? view.content(ino) : null, link };
}

/** Names of one inode of the host; HostTree gives its number with what it says about it. */
function linkOf(inode: Inode & { dev?: unknown; ino?: unknown; nlink?: unknown }, root: number): string | null {
	if (inode.kind === 'directory' || inode.nlink === undefined || Number(inode.nlink) < 2) return null;
	return `${root}:${String(inode.dev)}:${String(inode.ino)}`;
}

/** A file of which no other name is overwritten is no group. */
function withoutLonelyLinks(changes: readonly Change[]): Change[] {
	const counts = new Map<string, number>();
	for (const { link } of changes) if (link !== null) counts.set(link, (counts.get(link) ?? 0) + 1);
	return changes.map((change) =>
		change.link !== null && counts.get(change.link) === 1 ? { ...change, link: null } : change,
	);
}
