/** How often something may be done. */
export interface Rate {
	/** So many times at once. */
	readonly burst: number;
	/** After which one more is allowed. */
	readonly refillMs: number;
}

/** Lets so many through at once, and then one at a time as time passes. */
export class RateCap {
	readonly #rate: Rate;
	readonly #now: () => number;
	/** When all of the burst is allowed again. */
	#fullAt: number;

	/** `now` gives milliseconds that never fall. */
	constructor(rate: Rate, now: () => number) {
		this.#rate = rate;
		this.#now = now;
		this.#fullAt = now();
	}

	/** Whether it may be done now; counted when it may. */
	take(): boolean {
		const { burst, refillMs } = this.#rate;
		const now = this.#now();
		const fullAt = Math.max(this.#fullAt, now) + refillMs;
		if (fullAt - now > burst * refillMs) return false;
		this.#fullAt = fullAt;
		return true;
	}
}
