/** After how long an automatic checkpoint is due. */
export interface CheckpointTimes {
	/** Nothing moved for so long. */
	readonly quietMs: number;
	/** Something changed so long ago and there was no such rest since. */
	readonly intervalMs: number;
}

/** Waits after a checkpoint that failed: the first, and the longest. */
const FIRST_RETRY_MS = 5_000;
const LAST_RETRY_MS = 300_000;

/** Decides when an automatic checkpoint is due. Times are of one clock that never steps, in milliseconds. */
export class CheckpointClock {
	readonly #times: CheckpointTimes;
	#movedMs = 0;
	/** When something moved for the first time since the last checkpoint; null when nothing did. */
	#unsavedSinceMs: number | null = null;
	#retryMs = 0;
	#waitMs = 0;

	constructor(times: CheckpointTimes) {
		this.#times = times;
	}

	/** Something moved. */
	moved(nowMs: number): void {
		this.#movedMs = nowMs;
		this.#unsavedSinceMs ??= nowMs;
	}

	/** Whether something moved since the last checkpoint. */
	get isUnsaved(): boolean {
		return this.#unsavedSinceMs !== null;
	}

	/** For how long nothing has moved. */
	restMs(nowMs: number): number {
		return nowMs - this.#movedMs;
	}

	/** What is due. */
	due(nowMs: number): 'quiet' | 'ceiling' | null {
		if (this.#unsavedSinceMs === null || nowMs < this.#retryMs) return null;
		if (this.restMs(nowMs) >= this.#times.quietMs) return 'quiet';
		return nowMs - this.#unsavedSinceMs >= this.#times.intervalMs ? 'ceiling' : null;
	}

	/** All that moved until now is saved. */
	saved(): void {
		this.#unsavedSinceMs = null;
		this.#waitMs = 0;
	}

	/** A checkpoint failed: the next one is tried after a while, longer each time. Whether it is the first since one that did not. */
	failed(nowMs: number): boolean {
		const isFirst = this.#waitMs === 0;
		this.#waitMs = isFirst ? FIRST_RETRY_MS : Math.min(this.#waitMs * 2, LAST_RETRY_MS);
		this.#retryMs = nowMs + this.#waitMs;
		return isFirst;
	}
}
