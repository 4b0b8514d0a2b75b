import { equalToHost, rowsToDrop } from '../apply/drop-rows.ts';
import type { Root } from '../store/roots.ts';
import type { OwnedSession } from './session.ts';
import { openBase } from './session-views.ts';

/** Paths that a live restore had to copy from the base, by the inode of their tree's root. */
export type CopiedPaths = Map<number, Set<string>>;

/**
 * Takes copies of the base out of the layer again, so that what the host does to these files shows: those that still are what
 * the base holds. Nothing may be mounted on the layer. The present stays what it was to a reader.
 */
export function dropCopies(session: OwnedSession, copied: CopiedPaths): void {
	const { store } = session;
	const changes = store.tree.roots().flatMap((root) => {
		const paths = copied.get(root.ino);
		const drops = paths === undefined ? [] : equalCopies(session, root, paths);
		return drops.length === 0 ? [] : [{ root, changes: drops }];
	});
	if (changes.length === 0) return;
	session.changeTree(changes, () => {
		const { changed, position } = store.head.values();
		for (const { root, changes: drops } of changes) store.tree.apply(root.ino, drops);
		if (!changed) store.head.moveTo(position);
	});
}

function equalCopies({ store }: OwnedSession, root: Root, paths: ReadonlySet<string>) {
	const host = root.basePath === null ? null : openBase(root.basePath);
	if (host === null) return [];
	try {
		const layer = store.tree.at('now');
		const isEqual = equalToHost(layer, { root, host });
		return rowsToDrop(layer, { root, host }, (path, ours) => paths.has(path) && isEqual(path, ours));
	} finally {
		host.close();
	}
}
