import type { Change } from '../base/change.ts';
import { type Inode, WHITEOUT } from '../base/inode.ts';
import { ancestorPaths } from '../base/paths.ts';
import type { TreeView } from '../store/tree-view.ts';
import type { AppliedPath, AppliedTree } from './applied-record.ts';
import type { HostThing } from './host-changes.ts';
import type { HostedRoot } from './starting-points.ts';

/**
 * The rows that a layer needs so that it goes on reading as it did although the host beneath it was written: at each written
 * path where the host showed through, what was seen there.
 */
export function rowsToKeepReading(
	layer: TreeView,
	{ root, host }: HostedRoot,
	{ paths }: AppliedTree,
	seenAt: (entry: AppliedPath) => HostThing | null,
): Change[] {
	const rows = new Map<string, Change>();
	const add = (path: string, after: Inode, thing: HostThing | null = null) => {
		const { content = null, link = null } = thing ?? {};
		rows.set(path, { path, before: null, after, content, link, from: null });
	};
	for (const entry of [...paths].sort((a, b) => (a.path < b.path ? -1 : 1))) {
		const { path } = entry;
		if (path === '' || !showsHost(layer, root.ino, path)) continue;
		const above = ancestorPaths(path).slice(1);
		if (above.some((ancestor) => rows.get(ancestor)?.after?.kind !== 'directory' && rows.has(ancestor))) continue;
		for (const ancestor of above) {
			if (rows.has(ancestor) || layer.resolve(root.ino, ancestor) !== null) continue;
			const directory = host.stat(ancestor);
			if (directory?.kind !== 'directory')
				throw new Error(`${ancestor} is no directory of the host, nor was it written`);
			add(ancestor, { ...directory, opaque: false });
		}
		const thing = seenAt(entry);
		add(path, thing === null ? WHITEOUT : { ...thing.inode, opaque: false }, thing);
	}
	return [...rows.values()];
}

/** Whether the layer has no row of a path, nor one above that hides the host. */
function showsHost(layer: TreeView, root: number, path: string): boolean {
	let at: number | null = root;
	for (const name of path.split('/')) {
		if (at === null) return true;
		const inode = layer.inode(at);
		if (inode.kind !== 'directory' || inode.opaque) return false;
		at = layer.lookup(at, name);
		if (at === 0) return false;
	}
	return at === null;
}
