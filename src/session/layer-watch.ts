import { TreeWatch, type WatchMark } from '../sandbox/tree-watch.ts';
import { tellsOfWrites } from '../sandbox/write-events.ts';
import { hasLayerRoot, LAYER_ROLES, type LayerPlace, type LayerRole, upperPath } from './layer-place.ts';
import { unversionedIn } from './unversioned.ts';

/** For how long directories may be looked for before a scan, so that it need not visit everything. */
const REGISTER_MS = 20;

/** Knows what has changed in a live layer since it was last taken in. */
export class LayerWatch {
	readonly #trees: TreeWatch<LayerRole>;
	readonly #tellsAll: boolean;
	/** When the layer was looked at that the store now holds. */
	#taken: WatchMark = 0;

	/** `release` is the kernel's. Throws PosixError when this user can have no further queue of events. */
	constructor(place: LayerPlace, release: string) {
		const roles = LAYER_ROLES.filter((role) => hasLayerRoot(place, role));
		this.#trees = new TreeWatch(
			new Map(
				roles.map((role) => {
					const passesOver = unversionedIn(role);
					return [role, { path: upperPath(place, role), ...(passesOver === undefined ? {} : { passesOver }) }];
				}),
			),
		);
		this.#tellsAll = tellsOfWrites(release);
	}

	/** What keeps it from knowing everything; null when nothing does. */
	get failure() {
		return this.#trees.failure;
	}

	/** Reads what has happened and looks for new directories for so long; whether anything had happened. */
	attend(budgetMs: number): boolean {
		const events = this.#trees.drain();
		if (this.#trees.isRegistering) this.#trees.register(budgetMs);
		return events > 0;
	}

	/** The moment before a look at the layer. */
	mark(): WatchMark {
		this.attend(REGISTER_MS);
		return this.#trees.mark();
	}

	/** Directories of a tree in which something has changed since a mark, or since the layer was taken in; null: anywhere. */
	changedSince(role: LayerRole, mark: WatchMark = this.#taken): Set<string> | null {
		return this.#tellsAll ? this.#trees.changedSince(role, mark) : null;
	}

	/** The store holds what a look after this mark found. */
	taken(mark: WatchMark): void {
		this.#taken = mark;
		this.#trees.forget(mark);
	}

	close(): void {
		this.#trees.close();
	}
}
