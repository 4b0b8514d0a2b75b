import type { Change } from '../base/change.ts';
import type { Inode, Time } from '../base/inode.ts';
import { joinPath } from '../base/paths.ts';
import type { HostTree } from '../host/host-tree.ts';
import { type FoundOrigin, findOrigin, Origins } from '../store/origins.ts';
import type { Root } from '../store/roots.ts';
import type { Store } from '../store/store.ts';
import { openBase } from './session-views.ts';

/**
 * Finds what the base holds at paths that the session touches for the first time. A scan sees a change later than it was
 * made, so what the base holds now is trusted only when it is older than the last moment at which the session had not
 * touched the path: otherwise the host may have changed it in between, and it counts as drifted.
 */
export class OriginFinder {
	readonly #origins: Origins;
	readonly #untouchedAt: Time;
	readonly #found: { root: number; origin: FoundOrigin }[] = [];

	constructor(store: Store, untouchedAt: Time) {
		this.#origins = new Origins(store);
		this.#untouchedAt = untouchedAt;
	}

	/** Looks at the base of every change's path that has no origin yet. Outside a transaction: it reads files. */
	find(root: Root, changes: readonly Change[]): void {
		if (root.basePath === null || (root.role !== 'project' && root.role !== 'gitdir')) return;
		const base = openBase(root.basePath);
		if (base === null) return;
		try {
			for (const change of changes) this.#findOne(root, base, change);
		} finally {
			base.close();
		}
	}

	/** Writes what was found; joins the transaction. */
	record(): void {
		for (const { root, origin } of this.#found) this.#origins.firstTouch(root, origin);
		this.#found.length = 0;
	}

	#findOne(root: Root, base: HostTree, { path, after }: Change): void {
		if (path === '' || after === null || this.#origins.has(root.ino, path)) return;
		const inode = base.stat(path);
		this.#add(root, base, path, inode, true);
		// what a deleted or replaced directory held is touched with it
		if (inode?.kind === 'directory' && (after.kind !== 'directory' || after.opaque)) this.#findBelow(root, base, path);
	}

	#findBelow(root: Root, base: HostTree, directory: string): void {
		for (const name of base.list(directory)) {
			const path = joinPath(directory, name);
			const inode = base.stat(path);
			if (inode === null) continue;
			if (!this.#origins.has(root.ino, path)) this.#add(root, base, path, inode, false);
			if (inode.kind === 'directory') this.#findBelow(root, base, path);
		}
	}

	/** Content is read of single files alone; of whole directories the times and sizes must do. */
	#add(root: Root, base: HostTree, path: string, inode: Inode | null, withContent: boolean): void {
		const content = inode?.kind === 'file' && withContent ? base.content(path) : null;
		const trusted = inode === null || isBefore(inode.ctime, this.#untouchedAt);
		this.#found.push({ root: root.ino, origin: findOrigin(path, inode, content, trusted) });
	}
}

function isBefore(a: Time, b: Time): boolean {
	return a.sec < b.sec || (a.sec === b.sec && a.nsec < b.nsec);
}
