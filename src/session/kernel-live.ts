import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { isDiskFull } from '../base/posix-error.ts';
import { crashPoint } from '../host/crash-point.ts';
import { bringInLine, layOut } from '../layer/lay-out.ts';
import { ScanMemory } from '../layer/scan-memory.ts';
import { CannotFreeze } from '../sandbox/control-channel.ts';
import type { Launched } from '../sandbox/launch.ts';
import type { Root } from '../store/roots.ts';
import type { Store } from '../store/store.ts';
import { END_PATIENCE_MS, HANG_UP_AFTER_MS } from './early-end.ts';
import {
	finishLayerRoot,
	hasLayerRoot,
	LAYER_ROLES,
	type LayerPlace,
	type LayerRole,
	makeLayer,
	makeLayerRoot,
	nextLayerNumber,
	removeOtherLayers,
	scanMemoryPath,
	upperPath,
} from './layer-place.ts';
import type { Live, Standstill } from './live.ts';
import type { RootChanges } from './root-changes.ts';
import type { SessionPlace } from './session-place.ts';
import { writeTruth } from './truth.ts';
import { unversionedIn } from './unversioned.ts';

/** The trees that a live layer can hold; what an apply saved is in the store alone. */
export function isLayerRole(role: Root['role']): role is LayerRole {
	return role !== 'saved';
}

/**
 * The live layer of a session on the kernel's overlayfs: an upper directory for each tree, and what the last scan saw of
 * it. Only the session's owner has one.
 */
export class KernelLive implements Live {
	readonly place: LayerPlace;
	/** What the last scan saw, by role; a tree without one is scanned whole. */
	readonly memories = new Map<LayerRole, ScanMemory>();
	/** Whether the layer holds what the store does: not while something may be writing to it. */
	isInLine = false;
	/**
	 * Files that were mapped shared and writable when last looked at, by role: on a tmpfs what is stored through such a mapping
	 * later leaves no trace in the file's times.
	 */
	mapped: ReadonlyMap<LayerRole, ReadonlySet<string>> = new Map();

	/** What was launched on it last. */
	#launched: Launched | null = null;

	private constructor(place: LayerPlace) {
		this.place = place;
	}

	/** Makes a layer from the store's present and declares it the truth. */
	static fromStore(sessionPlace: SessionPlace, store: Store): KernelLive {
		const layer = new KernelLive(makeLayer(sessionPlace, nextLayerNumber(sessionPlace)));
		layer.addMissingRoots(store);
		removeOtherLayers(sessionPlace, layer.place);
		return layer;
	}

	/** Lays out the trees that the layer does not have yet, and declares it the truth. */
	addMissingRoots(store: Store): void {
		const missing = store.tree.roots().filter(({ role }) => isLayerRole(role) && !hasLayerRoot(this.place, role));
		if (missing.length === 0 && this.isInLine) return;
		const view = store.tree.at('now');
		for (const root of missing) {
			if (!isLayerRole(root.role)) continue;
			makeLayerRoot(this.place, root.role);
			this.memories.set(root.role, layOut(view, root.ino, upperPath(this.place, root.role)));
			crashPoint('layer-laid-out');
			finishLayerRoot(this.place, root.role);
		}
		this.declareInLine(store);
	}

	/** The layer that is there, with what is remembered of it for the store's present state. */
	static existing(place: LayerPlace, store: Store): KernelLive {
		const layer = new KernelLive(place);
		const token = store.config.get('layerToken') ?? '';
		for (const { role } of store.tree.roots()) {
			if (!isLayerRole(role)) continue;
			const memory = ScanMemory.load(scanMemoryPath(place, role), token);
			if (memory !== null) layer.memories.set(role, memory);
		}
		return layer;
	}

	/** The names of the agreements with a store that the layer's trees were last left at; none for one without any. */
	static tokensOf(place: LayerPlace): string[] {
		return LAYER_ROLES.flatMap((role) => ScanMemory.tokenOf(scanMemoryPath(place, role)) ?? []);
	}

	start(launched: Launched): void {
		this.#launched = launched;
		this.isInLine = false;
	}

	async freeze(action: (standsStill: boolean) => void): Promise<Standstill> {
		const launched = this.#launched;
		const began = performance.now();
		const state = launched === null ? 'ended' : await stopAll(launched);
		let undisturbed = state !== 'running';
		try {
			action(undisturbed);
		} finally {
			if (state === 'stopped' && launched?.hasEnded === false) ({ undisturbed } = await launched.thaw());
		}
		return { frozenMs: state === 'stopped' ? performance.now() - began : 0, undisturbed };
	}

	stop(): void {
		const launched = this.#launched;
		launched?.kill('SIGTERM');
		setTimeout(() => launched?.kill('SIGHUP'), HANG_UP_AFTER_MS).unref();
		setTimeout(() => launched?.kill('SIGKILL'), END_PATIENCE_MS).unref();
	}

	/** Makes the upper directories hold what the store does, given what differs, and declares the layer the truth again. */
	bring(store: Store, changed: readonly RootChanges[]): void {
		this.isInLine = false;
		for (const { root, changes } of changed) {
			if (!isLayerRole(root.role) || changes.length === 0 || !hasLayerRoot(this.place, root.role)) continue;
			const before = this.memories.get(root.role) ?? null;
			const after = bringInLine(changes, upperPath(this.place, root.role), before, unversionedIn(root.role));
			if (after === null) this.#forget(root.role);
			else this.memories.set(root.role, after);
			crashPoint('layer-brought');
		}
		this.declareInLine(store);
	}

	/** Writes that store and layer are the same, and remembers the layer as it is. */
	declareInLine(store: Store): void {
		const token = newLayerToken();
		store.write(() => {
			writeTruth(store.config, { side: 'layer', number: this.place.number });
			store.config.set('layerToken', token);
		});
		store.durable();
		crashPoint('layer-declared');
		this.remember(token);
	}

	/** Keeps what was seen for the next owner, if there is room, after the commit that set the token. */
	remember(token: string): void {
		for (const [role, memory] of this.memories) {
			try {
				memory.save(scanMemoryPath(this.place, role), token);
			} catch (error) {
				// the next scan finds no memory of this state, and looks at everything
				if (!isDiskFull(error)) throw error;
			}
			crashPoint('layer-remembered');
		}
		this.isInLine = true;
	}

	#forget(role: LayerRole): void {
		this.memories.delete(role);
		rmSync(fsPath(scanMemoryPath(this.place, role)), { force: true });
	}
}

/** A name for one agreement of store and layer. */
export function newLayerToken(): string {
	return randomBytes(12).toString('hex');
}

/** Stops everything inside. What has ended meanwhile stands still for good; what cannot be stopped runs. */
async function stopAll(launched: Launched): Promise<'stopped' | 'ended' | 'running'> {
	try {
		await launched.freeze();
		return 'stopped';
	} catch (error) {
		if (launched.hasEnded) return 'ended';
		if (error instanceof CannotFreeze) return 'running';
		throw error;
	}
}
