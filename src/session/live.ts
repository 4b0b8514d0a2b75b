import type { Launched } from '../sandbox/launch.ts';
import type { Store } from '../store/store.ts';
import type { RootChanges } from './root-changes.ts';

/** A time in which nothing moved. */
export interface Standstill {
	/** From the request to stop to the answer that it goes on; 0 when nothing ran any more. */
	readonly frozenMs: number;
	/** False when something went on before it was over. */
	readonly undisturbed: boolean;
}

/**
 * The side of a session that a running command writes to, and that is ahead of the store meanwhile. KernelLive is it on the
 * kernel's overlayfs; nothing else may depend on which it is.
 */
export interface Live {
	/** Whether it holds what the store does: not while something may be writing to it. */
	readonly isInLine: boolean;
	/** Attends a command that was launched on it: from now on it is ahead. */
	start(launched: Launched): void;
	/** Makes it hold what the store does, given what differs. */
	bring(store: Store, changed: readonly RootChanges[]): void;
	/**
	 * Does something while all that was launched stands still, and says for how long it did. When it cannot be stopped,
	 * `action` is called with false while it goes on.
	 */
	freeze(action: (standsStill: boolean) => void): Promise<Standstill>;
	/** Asks what was launched to end, and kills it when it does not. */
	stop(): void;
}
