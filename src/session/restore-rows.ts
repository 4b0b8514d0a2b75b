import type { Change } from '../base/change.ts';
import { isWithin, parentPath } from '../base/paths.ts';
import type { RedoTrail } from '../history/undo.ts';
import type { Root } from '../store/roots.ts';
import type { Store } from '../store/store.ts';
import type { RootChanges } from './root-changes.ts';

/** What a restore writes into the store. */
export interface RestoreRows {
	readonly target: number;
	readonly roots: readonly Root[];
	/** Paths below the project's root; empty for everything. */
	readonly paths: readonly string[];
	/** What can be redone from then on; null leaves that as it is. */
	readonly trail: RedoTrail | null;
}

/** How the layer's rows differ between the present and the target. */
export function restoreChanges({ tree }: Store, { target, roots, paths }: Omit<RestoreRows, 'trail'>): RootChanges[] {
	return roots.map((root) => ({ root, changes: chosen(root, tree.changes('now', target, root.ino), paths) }));
}

/**
 * Makes the present equal to the target; joins a transaction. With paths, only those, and the position stays. The caller has
 * taken a snapshot of the present.
 */
export function writeRestore(store: Store, rows: RestoreRows, changes?: readonly RootChanges[]): void {
	if (rows.paths.length === 0) {
		store.tree.restore(
			rows.target,
			rows.roots.map(({ ino }) => ino),
		);
	} else {
		for (const { root, changes: chosen } of changes ?? restoreChanges(store, rows)) store.tree.apply(root.ino, chosen);
	}
	if (rows.trail !== null) store.config.setJson('redo', rows.trail);
}

/**
 * Paths are below the project; other trees are restored only whole. The directories that a chosen path stands in come with
 * it when they are not there.
 */
function chosen(root: Root, changes: readonly Change[], paths: readonly string[]): readonly Change[] {
	if (paths.length === 0) return changes;
	if (root.role !== 'project') return [];
	const isChosen = new Set(changes.filter(({ path }) => paths.some((one) => isWithin(path, one))));
	const byPath = new Map(changes.map((change) => [change.path, change]));
	for (const { path, after } of [...isChosen]) {
		for (let at = path; after !== null && at !== ''; ) {
			at = parentPath(at);
			const above = byPath.get(at);
			if (above?.after?.kind === 'directory' && above.before?.kind !== 'directory') isChosen.add(above);
		}
	}
	return changes.filter((change) => isChosen.has(change));
}
