import type { Change } from '../base/change.ts';
import { joinPath, pathDepth } from '../base/paths.ts';
import type { HostTree } from '../host/host-tree.ts';

/** Changes that can be made, and the directories that were to go but stay. */
export interface Spared {
	readonly changes: readonly Change[];
	readonly kept: ReadonlySet<string>;
}

/**
 * Leaves out the removal of directories that hold something the changes do not mention, such as the caches that are not
 * versioned: nobody asked for these to be lost.
 */
export function spareOccupied(changes: readonly Change[], tree: HostTree): Spared {
	const leaving = changes.filter(({ after }) => after?.kind !== 'directory');
	const directories = leaving.filter(({ path }) => tree.statBare(path)?.kind === 'directory');
	if (directories.length === 0) return { changes, kept: new Set() };
	const isRemoved = new Set(leaving.filter(({ after }) => after === null).map(({ path }) => path));
	const kept = new Set<string>();
	directories.sort((a, b) => pathDepth(b.path) - pathDepth(a.path));
	for (const { path } of directories) {
		const isEmptied = tree.list(path).every((name) => isRemoved.has(joinPath(path, name)));
		if (isEmptied) continue;
		kept.add(path);
		isRemoved.delete(path);
	}
	return { changes: changes.filter(({ path }) => !kept.has(path)), kept };
}
