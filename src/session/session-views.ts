import { errorCode } from '../base/posix-error.ts';
import type { Point } from '../history/refs.ts';
import { HostTree } from '../host/host-tree.ts';
import type { Root } from '../store/roots.ts';
import type { Store } from '../store/store.ts';
import { MergedView } from '../vfs/merged-view.ts';

/** One tree of a session at two points of history, to be compared. */
export interface ComparedTree {
	readonly root: Root;
	readonly from: MergedView;
	readonly to: MergedView;
	/** The paths whose rows in the layer differ; elsewhere both show the base. */
	readonly candidates: Iterable<string>;
}

/** Reads a session's trees as they were at points of history. Host directories stay open until it is closed. */
export class SessionViews {
	readonly #store: Store;
	readonly #bases = new Map<string, HostTree | null>();

	constructor(store: Store) {
		this.#store = store;
	}

	/** One tree at two points. */
	compare(root: Root, a: Point, b: Point): ComparedTree {
		return { root, from: this.at(root, a), to: this.at(root, b), candidates: this.#candidates(root, a, b) };
	}

	/** What a reader of the tree sees, or saw, there. */
	at(root: Root, point: Point): MergedView {
		return new MergedView(point === 'base' ? null : this.#store.tree.at(point), root.ino, this.#base(root.basePath));
	}

	close(): void {
		for (const base of this.#bases.values()) base?.close();
		this.#bases.clear();
	}

	#candidates(root: Root, a: Point, b: Point): Iterable<string> {
		if (a === b) return [];
		if (a === 'base') return this.at(root, b).layerPaths();
		if (b === 'base') return this.at(root, a).layerPaths();
		return this.#store.tree.changes(a, b, root.ino).map(({ path }) => path);
	}

	/** Null for a base that vanished: what the layer holds can still be read. */
	#base(path: string | null): HostTree | null {
		if (path === null) return null;
		let base = this.#bases.get(path);
		if (base === undefined) {
			base = openBase(path);
			this.#bases.set(path, base);
		}
		return base;
	}
}

/** A base to read; null when there is no such directory any more. */
export function openBase(path: string): HostTree | null {
	try {
		return HostTree.open(path, 'ro');
	} catch (error) {
		if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
		throw error;
	}
}
