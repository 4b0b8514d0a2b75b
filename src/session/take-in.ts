import type { Change } from '../base/change.ts';
import type { Time } from '../base/inode.ts';
import { crashPoint } from '../host/crash-point.ts';
import { type ScanOptions, scanUpper } from '../layer/scan.ts';
import type { ScanMemory } from '../layer/scan-memory.ts';
import type { Staged } from '../store/ingest.ts';
import type { Root } from '../store/roots.ts';
import type { Store } from '../store/store.ts';
import { isLayerRole, type KernelLive, newLayerToken } from './kernel-live.ts';
import { hasLayerRoot, type LayerRole, upperPath } from './layer-place.ts';
import { OriginFinder } from './origin-finder.ts';
import { removalsOfUnseen } from './removals-of-unseen.ts';
import { writeTruth } from './truth.ts';
import { unversionedIn } from './unversioned.ts';

/** What one scan of one tree found, its content already in the store but named by nothing yet. */
interface Found {
	readonly root: Root;
	readonly changes: readonly Change[];
	readonly staged: Staged;
}

/** In which directories of a tree something may have changed; null for anywhere. */
type DirectoriesOf = (role: LayerRole) => ReadonlySet<string> | null;

/**
 * Takes what a live layer holds into the store. Scanning reads and stores content while the layer is in use; `commit` makes
 * all of it the present in one transaction. A second scan before the commit reads only what moved since the first.
 */
export class TakeIn {
	readonly #store: Store;
	readonly #layer: KernelLive;
	readonly #origins: OriginFinder;
	readonly #memories = new Map<LayerRole, ScanMemory>();
	readonly #found: Found[] = [];
	/** What files that had to be read again were, as the last scan found them. */
	readonly #reread = new Map<string, string>();
	#news = 0;

	/** `agreedAt` is when the layer was last known to hold nothing that the store does not: see OriginFinder. */
	constructor(store: Store, layer: KernelLive, agreedAt: Time) {
		this.#store = store;
		this.#layer = layer;
		this.#origins = new OriginFinder(store, agreedAt);
	}

	/**
	 * Reads what is new in every tree. `reread` names files whose content may have changed unseen, by role; `only` says in
	 * which directories something may have changed, null for anywhere.
	 */
	scan(reread: ReadonlyMap<LayerRole, ReadonlySet<string>> = new Map(), only: DirectoriesOf = () => null): void {
		for (const root of this.#store.tree.roots()) {
			// a tree that is only half laid out says nothing: it is laid out anew
			if (!isLayerRole(root.role) || !hasLayerRoot(this.#layer.place, root.role)) continue;
			this.#scanRoot(root, root.role, reread.get(root.role) ?? new Set(), only(root.role));
		}
	}

	/** What is remembered of a tree; null when it was never looked at. */
	memoryOf(role: LayerRole): ScanMemory | null {
		return this.#memories.get(role) ?? this.#layer.memories.get(role) ?? null;
	}

	/** How many paths the scans found to differ; what was read again and is as an earlier scan had it does not count. */
	get news(): number {
		return this.#news;
	}

	/**
	 * Makes what was scanned the present, durable when this returns. `within` joins the transaction; it is told how many
	 * names and inodes really changed.
	 */
	commit<T>(within: (changed: number) => T): T {
		const token = newLayerToken();
		const result = this.#store.write(() => {
			let changed = 0;
			for (const { root, changes, staged } of this.#found) {
				const { entries, inodes } = this.#store.tree.apply(root.ino, changes, staged);
				changed += entries + inodes;
			}
			this.#origins.record();
			writeTruth(this.#store.config, { side: 'layer', number: this.#layer.place.number });
			this.#store.config.set('layerToken', token);
			return within(changed);
		});
		this.#store.durable();
		crashPoint('taken-in');
		for (const [role, memory] of this.#memories) this.#layer.memories.set(role, memory);
		this.#layer.remember(token);
		return result;
	}

	#scanRoot(root: Root, role: LayerRole, reread: ReadonlySet<string>, only: ReadonlySet<string> | null): void {
		const known = this.memoryOf(role);
		const unversioned = unversionedIn(role);
		const alsoRehash = new Set([...reread, ...(this.#layer.mapped.get(role) ?? [])]);
		const options: ScanOptions = {
			...(unversioned === undefined ? {} : { unversioned }),
			...(only === null ? {} : { only }),
			alsoRehash,
		};
		const scan = scanUpper(upperPath(this.#layer.place, role), known, options);
		try {
			const unseen = known === null ? removalsOfUnseen(this.#store, root, scan.memory) : [];
			this.#memories.set(role, scan.memory);
			this.#keep(root, [...scan.changes, ...unseen], alsoRehash);
		} finally {
			scan.close();
		}
	}

	#keep(root: Root, changes: readonly Change[], reread: ReadonlySet<string>): void {
		if (changes.length === 0) return;
		this.#origins.find(root, changes);
		const staged = this.#store.tree.stage(changes);
		this.#found.push({ root, changes, staged });
		for (const change of changes) if (!reread.has(change.path) || this.#isNews(root, change, staged)) this.#news++;
	}

	#isNews({ role }: Root, { path, after, content }: Change, staged: Staged): boolean {
		const chunks = content === null ? null : (staged.of(content)?.chunks ?? null);
		const state = JSON.stringify([after?.kind, after?.mode, after?.uid, after?.gid, after?.size, after?.mtime, chunks]);
		const key = `${role}/${path}`;
		if (this.#reread.get(key) === state) return false;
		this.#reread.set(key, state);
		return true;
	}
}
