import type { Change } from '../base/change.ts';
import { type Inode, sameInode, WHITEOUT } from '../base/inode.ts';
import { joinPath } from '../base/paths.ts';
import type { HostTree } from '../host/host-tree.ts';
import type { TreeView } from '../store/tree-view.ts';
import { sameContent } from '../vfs/read-content.ts';
import type { HostedRoot } from './starting-points.ts';

/** Whether the session is to read the host at a path from now on, although the layer has a row of it. */
export type MayDrop = (path: string, ours: Inode | null) => boolean;

/**
 * The rows of a layer that say no more than the host does, as changes that take them away: every row that `mayDrop` gives
 * up, unless it stands in a directory that hides the host and has to stay.
 */
export function rowsToDrop(layer: TreeView, { root, host }: HostedRoot, mayDrop: MayDrop): Change[] {
	if (!layer.has(root.ino) || layer.inode(root.ino).opaque) return [];
	const walk: Walk = { layer, host, mayDrop, drops: [] };
	dropBelow(walk, root.ino, '');
	return walk.drops.map(({ path, inode }) => ({
		path,
		before: inode ?? WHITEOUT,
		after: null,
		content: null,
		link: null,
		from: null,
	}));
}

/** Rows may go whose thing is the same on the host: kind, content, mode, attributes and, but for directories, time. */
export function equalToHost(layer: TreeView, { root, host }: HostedRoot): MayDrop {
	return (path, ours) => {
		const theirs = host.stat(path);
		if (ours === null || theirs === null) return ours === null && theirs === null;
		const isDirectory = ours.kind === 'directory';
		const { uid, gid, size, opaque, mtime } = theirs;
		const comparable = { ...ours, uid, gid, opaque, ...(isDirectory ? { size, mtime } : {}) };
		if (!sameInode(comparable, theirs)) return false;
		const ino = ours.kind === 'file' ? layer.resolve(root.ino, path) : null;
		return ino === null || ino === 0 || sameContent(layer.content(ino), host.content(path, size));
	};
}

interface Walk {
	readonly layer: TreeView;
	readonly host: HostTree;
	readonly mayDrop: MayDrop;
	readonly drops: { path: string; inode: Inode | null }[];
}

interface OpenDirectory {
	readonly ino: number;
	readonly path: string;
	/** The directory whose row waits for this one's; null for the root. */
	readonly above: OpenDirectory | null;
	isEmpty: boolean;
}

/** Directories wait until what they hold is decided: a row can go only after all below it. No recursion: agents nest deeply. */
function dropBelow(walk: Walk, ino: number, path: string): void {
	const pending: OpenDirectory[] = [{ ino, path, above: null, isEmpty: true }];
	const visited: OpenDirectory[] = [];
	for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
		visited.push(directory);
		for (const [name, child] of walk.layer.children(directory.ino)) {
			const childPath = joinPath(directory.path, name);
			const inode = child === 0 ? null : walk.layer.inode(child);
			if (inode?.kind === 'directory') dropDirectory(walk, child, childPath, inode, directory, pending);
			else if (walk.mayDrop(childPath, inode)) walk.drops.push({ path: childPath, inode });
			else directory.isEmpty = false;
		}
	}
	for (const directory of visited.reverse()) {
		const { above } = directory;
		if (above === null) continue;
		const inode = walk.layer.inode(directory.ino);
		if (directory.isEmpty && walk.mayDrop(directory.path, inode)) walk.drops.push({ path: directory.path, inode });
		else above.isEmpty = false;
	}
}

function dropDirectory(
	walk: Walk,
	ino: number,
	path: string,
	inode: Inode,
	above: OpenDirectory,
	pending: OpenDirectory[],
): void {
	if (isHostDirectory(walk, path) && !inode.opaque) {
		pending.push({ ino, path, above, isEmpty: true });
		return;
	}
	const rows = wholeDirectory(walk, ino, path, inode);
	if (rows === null) above.isEmpty = false;
	else walk.drops.push(...rows);
}

function isHostDirectory({ host }: Walk, path: string): boolean {
	return host.statBare(path)?.kind === 'directory';
}

/** The rows of a directory that hides the host's, when all may go and the host has nothing below that it was hiding. */
function wholeDirectory(
	walk: Walk,
	ino: number,
	path: string,
	inode: Inode,
): { path: string; inode: Inode | null }[] | null {
	const rows = [{ path, inode: inode as Inode | null }];
	const open = [{ ino, path }];
	for (let at = open.pop(); at !== undefined; at = open.pop()) {
		if (!walk.mayDrop(at.path, walk.layer.inode(at.ino))) return null;
		const hidden = new Set(isHostDirectory(walk, at.path) ? walk.host.list(at.path) : []);
		for (const [name, child] of walk.layer.children(at.ino)) {
			const childPath = joinPath(at.path, name);
			const below = child === 0 ? null : walk.layer.inode(child);
			rows.push({ path: childPath, inode: below });
			if (below?.kind === 'directory') open.push({ ino: child, path: childPath });
			else if (!walk.mayDrop(childPath, below)) return null;
			hidden.delete(name);
		}
		for (const name of hidden) if (!walk.mayDrop(joinPath(at.path, name), null)) return null;
	}
	return rows;
}
