import type { Change } from '../base/change.ts';
import { WHITEOUT } from '../base/inode.ts';
import { parentPath } from '../base/paths.ts';
import { HostTree } from '../host/host-tree.ts';
import type { TreeView } from '../store/tree-view.ts';
import { rememberUpper } from './remember-upper.ts';
import type { ScanMemory } from './scan-memory.ts';
import { spareOccupied } from './spare-occupied.ts';
import { toUpperChange } from './upper-encoding.ts';

/**
 * Lays a stored tree out in an empty upper directory, exactly: owners where we may. Not synced: after a restart of the
 * machine the layer is laid out anew. Returns what a scan need not look at again. Throws PosixError; what was made until
 * then stays.
 */
export function layOut(view: TreeView, root: number, upperPath: string): ScanMemory {
	const tree = HostTree.open(upperPath, 'rw');
	try {
		tree.apply(Array.from(storedTree(view, root), toUpperChange), { durable: false, fresh: true, owner: 'possible' });
	} finally {
		tree.close();
	}
	const memory = rememberUpper(upperPath, null, () => true);
	if (memory === null) throw new Error(`nothing was remembered of ${upperPath} that could be gone`);
	return memory;
}

/**
 * Makes changes of the stored tree in an upper directory that is not mounted. `memory` is what the last scan saw, when
 * the store and the directory were the same. Returns what is remembered from now on; null when somebody else removed
 * something meanwhile, so that the next scan has to look at everything.
 *
 * A directory that still holds unversioned files stays, and the next scan reports it. Throws PosixError; the directory
 * is then neither the old state nor the new one, and is to be laid out anew.
 */
export function bringInLine(
	changes: readonly Change[],
	upperPath: string,
	memory: ScanMemory | null,
	unversioned?: (path: string) => boolean,
): ScanMemory | null {
	const ours = new Set(changes.flatMap(({ path }) => [path, parentPath(path)]));
	const tree = HostTree.open(upperPath, 'rw');
	try {
		const spared = spareOccupied(changes, tree);
		for (const path of spared.kept) ours.delete(path);
		const all = [...spared.changes.map(toUpperChange), ...directoriesAround(spared.changes, tree)];
		tree.apply(all, { durable: false, owner: 'possible' });
	} finally {
		tree.close();
	}
	return rememberUpper(upperPath, memory, (path) => ours.has(path), unversioned);
}

/** The directories in which changes are made and that stay as they are, so that they keep their times. */
function directoriesAround(changes: readonly Change[], tree: HostTree): Change[] {
	const changed = new Set(changes.map(({ path }) => path));
	const around = new Set(changes.map(({ path }) => parentPath(path)).filter((path) => !changed.has(path)));
	return [...around].flatMap((path) => {
		const after = tree.stat(path);
		if (after?.kind !== 'directory') return [];
		return [{ path, before: after, after, content: null, link: null, from: null }];
	});
}

function* storedTree(view: TreeView, root: number): Generator<Change> {
	const linked = new Set<number>();
	for (const { path, ino } of view.walk(root)) {
		if (ino === 0) {
			yield { path, before: null, after: WHITEOUT, content: null, link: null, from: null };
			continue;
		}
		const after = view.inode(ino);
		const isLinked = after.nlink > 1 && after.kind !== 'directory';
		const content = after.kind === 'file' && !linked.has(ino) ? view.content(ino) : null;
		if (isLinked) linked.add(ino);
		yield { path, before: null, after, content, link: isLinked ? String(ino) : null, from: null };
	}
}
