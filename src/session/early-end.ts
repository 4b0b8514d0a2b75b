/** Why a command was ended before it ended by itself. */
export type EndReason = 'timeout' | 'quota';

/** A command that can be told to end. */
export interface Endable {
	/** Whether there is nothing left to be ended. */
	readonly hasEnded: boolean;
	kill(signal: NodeJS.Signals): void;
}

/** How long a command that was asked to end may take before it is killed. */
export const END_PATIENCE_MS = 5_000;

/** After how long it is hung up on: an interactive shell takes no notice of SIGTERM. */
export const HANG_UP_AFTER_MS = 500;

/** Longest delay that a timer takes; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Ends a command before its time: asks it with SIGTERM and then SIGHUP, and kills it when it does not end. Disposed when it has ended. */
export class EarlyEnd implements Disposable {
	readonly #command: Endable;
	readonly #notify: (text: string) => void;
	#reason: EndReason | null = null;
	#timers: NodeJS.Timeout[] = [];

	constructor(command: Endable, notify: (text: string) => void) {
		this.#command = command;
		this.#notify = notify;
	}

	/** The first reason there was; null when the command was left to end by itself. */
	get reason(): EndReason | null {
		return this.#reason;
	}

	/** Ends it; `why` is told. A second reason changes nothing. */
	now(reason: EndReason, why: string): void {
		if (this.#command.hasEnded || this.#reason !== null) return;
		this.#reason = reason;
		this.#notify(`${why}: the command is told to end`);
		this.#command.kill('SIGTERM');
		this.#timers.push(setTimeout(() => this.#hangUp(), HANG_UP_AFTER_MS).unref());
		this.#timers.push(setTimeout(() => this.kill('it has not ended'), END_PATIENCE_MS).unref());
	}

	/** Kills it without further waiting; `why` is told. */
	kill(why: string): void {
		if (this.#command.hasEnded) return;
		this.#notify(`${why}: the command is killed`);
		this.#command.kill('SIGKILL');
	}

	#hangUp(): void {
		if (!this.#command.hasEnded) this.#command.kill('SIGHUP');
	}

	/** Ends it when so much time has passed; null is for ever. */
	afterTimeout(timeoutMs: number | null): void {
		if (timeoutMs === null) return;
		const deadline = performance.now() + timeoutMs;
		const wait = () => {
			const leftMs = deadline - performance.now();
			if (leftMs <= 0) this.now('timeout', `--timeout ${timeoutMs / 1000}s has passed`);
			else this.#timers.push(setTimeout(wait, Math.min(leftMs, LONGEST_TIMER_MS)).unref());
		};
		wait();
	}

	[Symbol.dispose](): void {
		for (const timer of this.#timers) clearTimeout(timer);
		this.#timers = [];
	}
}
