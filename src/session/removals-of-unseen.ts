import type { Change } from '../base/change.ts';
import { isWithin } from '../base/paths.ts';
import type { ScanMemory } from '../layer/scan-memory.ts';
import type { Root } from '../store/roots.ts';
import type { Store } from '../store/store.ts';

/**
 * What the store has and a scan of the whole layer did not see: it is gone. A scan that remembers the one before finds this
 * by itself; one without memory cannot. A removed directory stands for everything in it.
 */
export function removalsOfUnseen({ tree }: Store, root: Root, seen: ScanMemory): Change[] {
	const removals: Change[] = [];
	let removed: string | null = null;
	for (const { path } of tree.at('now').walk(root.ino)) {
		if (path === '' || (removed !== null && isWithin(path, removed))) continue;
		if (seen.find(path) >= 0) continue;
		removed = path;
		removals.push({ path, before: null, after: null, content: null, link: null, from: null });
	}
	return removals;
}
