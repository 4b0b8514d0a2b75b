import { setTimeout as wait } from 'node:timers/promises';
import { type Clock, timeOfIso } from '../base/clock.ts';
import type { Time } from '../base/inode.ts';
import { Refusal } from '../base/refusal.ts';
import { bootId, isRunning } from '../host/process.ts';
import { continueStopped } from '../sandbox/continue-stopped.ts';
import type { Store } from '../store/store.ts';
import { KernelLive } from './kernel-live.ts';
import { isLayerOfThisBoot, keepLayerAside, layerExists, layerPlace, layersOf, removeLayer } from './layer-place.ts';
import { type OwnerFacts, readOwnerFile, removeOwnerFile } from './owner-file.ts';
import { completePendingRestore } from './pending-restore.ts';
import { type FoundClaim, removeClaim } from './ready-token.ts';
import type { SessionPlace } from './session-place.ts';
import { TakeIn } from './take-in.ts';
import { readTruth, writeTruth } from './truth.ts';

/** What recovery works on; the owner's lock is held. */
export interface Recovering {
	readonly place: SessionPlace;
	readonly store: Store;
	/** Whether the last owner left word that the layer holds nothing that the store does not. */
	readonly wasReady: boolean;
	/** What a run left that was killed before it described itself. */
	readonly left: FoundClaim | null;
	readonly notify: (text: string) => void;
	readonly clock: Clock;
}

/** No base is older: nothing that it holds is trusted to be what it was. */
const NEVER: Time = { sec: 0, nsec: 0 };
const DYING_MS = 5_000;
/** What is left after so long does not die by itself. */
const CONTINUE_AFTER_MS = 250;
const PAUSE_MS = 10;

/**
 * The rungs of the ladder below the lock: waits for a killed owner's tree to be gone, then makes store and layer agree in
 * the direction that the store's truth gives. Returns the layer when there is one in line with the store.
 */
export async function recover(recovering: Recovering): Promise<KernelLive | null> {
	const { place, store } = recovering;
	const dead = readOwnerFile(place);
	if (dead !== null) await waitForInit(dead);
	const layer = agree(recovering, dead);
	store.durable();
	removeOwnerFile(place);
	if (recovering.left !== null) removeClaim(recovering.left);
	return layer;
}

/**
 * A tree whose owner was killed dies with it, in some 70 ms. Where it does not, because its first process waits for one that
 * the owner froze, everything that stands stopped is continued once: it may come to its end.
 */
async function waitForInit({ init, initStart, bootId: boot }: OwnerFacts): Promise<void> {
	if (init === null || initStart === null || boot !== bootId()) return;
	const begun = performance.now();
	let continued = false;
	for (; isRunning(init, initStart); await wait(PAUSE_MS)) {
		const waitedMs = performance.now() - begun;
		if (!continued && waitedMs > CONTINUE_AFTER_MS) {
			continueStopped(init);
			continued = true;
		}
		if (waitedMs > DYING_MS) {
			throw new Refusal(
				'busy',
				'tree-still-running',
				`process ${init} of the session's last run is still there although its owner is gone`,
				{
					hint: `end it with \`kill -9 ${init}\``,
				},
			);
		}
	}
}

function agree(recovering: Recovering, dead: OwnerFacts | null): KernelLive | null {
	const { place, store, wasReady } = recovering;
	const truth = readTruth(store.config);
	if (truth.side === 'store') return keepUnknownLayers(recovering);
	const layer = layerPlace(place, truth.number);
	if (!layerExists(layer)) {
		// the file came here without its layer, as a copy does
		store.write(() => writeTruth(store.config, { side: 'store' }));
		return keepUnknownLayers(recovering);
	}
	if (!isLayerOfThisBoot(layer)) return afterRestart(recovering, truth.number, wasReady);
	if (completePendingRestore(layer, store)) return null;
	const live = KernelLive.existing(layer, store);
	if (wasReady) live.isInLine = true;
	else takeInWhatIsThere(recovering, live, dead);
	return live;
}

/**
 * Sets aside what is not a layer of this store's past, such as the one beside an older copy of the file: nobody else has what
 * it holds. A layer that the store knows is left to be replaced, and so is one that was cut short while it was laid out.
 */
function keepUnknownLayers({ place, store, notify }: Recovering): null {
	const token = store.config.get('layerToken');
	for (const layer of layersOf(place)) {
		const tokens = KernelLive.tokensOf(layer);
		if (tokens.length === 0 || tokens.some((known) => known === token)) continue;
		const kept = keepLayerAside(layer);
		notify(`session ${place.id} does not know the layer that lies beside it; what that held is kept at ${kept}`);
	}
	return null;
}

/** What was written before the machine went down may be zeros by now; only the store can be believed. */
function afterRestart({ place, store, notify }: Recovering, number: number, wasReady: boolean): null {
	const layer = layerPlace(place, number);
	store.write(() => writeTruth(store.config, { side: 'store' }));
	store.durable();
	if (wasReady) removeLayer(layer);
	else {
		const kept = keepLayerAside(layer);
		notify(
			`the machine was restarted under session ${place.id}: it continues from its last snapshot; what the layer held is kept at ${kept}`,
		);
	}
	return null;
}

function takeInWhatIsThere(
	{ place, store, left, notify, clock }: Recovering,
	layer: KernelLive,
	dead: OwnerFacts | null,
): void {
	const begun = dead === null ? (left?.made ?? null) : timeOfIso(dead.started);
	const takeIn = new TakeIn(store, layer, begun ?? NEVER);
	takeIn.scan();
	takeIn.commit(() => {
		if (begun === null || !store.head.values().changed) return;
		store.tree.snapshot({ trigger: 'exit', note: 'recovered', created: clock.now() });
		notify(
			`the last run of session ${place.id} was killed; what it had written is snapshot ${store.head.values().position}`,
		);
	});
}
