import { release } from 'node:os';
import { errorCode } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import type { Launched } from '../sandbox/launch.ts';
import { WrittenBytes } from '../sandbox/written-bytes.ts';
import { CheckpointClock, type CheckpointTimes } from './checkpoint-clock.ts';
import type { KernelLive } from './kernel-live.ts';
import { LayerWatch } from './layer-watch.ts';
import type { Moment, TakeInManner } from './live-take-in.ts';
import type { Notify, OwnedSession } from './session.ts';
import { insertSnapshot } from './snapshot-session.ts';

/** The command comes first: nothing is watched before it had so long. */
const START_AFTER_MS = 200;
/** How often the watch is looked at, at best and at worst. */
const LOOK_EVERY_MS = 250;
const LOOK_AT_LEAST_EVERY_MS = 2_000;
/** Of the time that passes, watching takes no more than one part in so many. */
const COST_SHARE = 100;
/** For how long a look may go on finding directories. */
const REGISTER_MS = 10;
/**
 * After how long everything is looked at again, whatever the events say, for there are writes that none tells of: at the
 * latest, and for each name of the layer. A look takes some 3 us a name; see {@link COST_SHARE}.
 */
const FULL_WALK_MS = 60_000;
const FULL_WALK_MS_PER_NAME = 0.3;

/** A run whose layer is watched. */
export interface WatchedRun {
	readonly session: OwnedSession;
	readonly layer: KernelLive;
	readonly launched: Launched;
	readonly facts: { readonly checkpoints: CheckpointTimes; readonly notify: Notify };
	/** Number of the run in the session's record. */
	readonly run: number;
	/** Takes the layer in, in turn with all that is asked for. */
	takeInAs<T>(manner: TakeInManner, within: (moment: Moment) => T): Promise<{ readonly result: T } | null>;
	inOrder<T>(action: () => Promise<T>): Promise<T>;
	/** Thins old checkpoints for a moment. */
	thin(): Promise<void>;
}

/** Watches a live layer, and takes a snapshot when it came to rest, or when it did not for long. */
export class AutoCheckpoints {
	readonly #run: WatchedRun;
	readonly #clock: CheckpointClock;
	#timer: NodeJS.Timeout | null;
	#watch: LayerWatch | null = null;
	#written: WrittenBytes | null = null;
	#writtenBytes = 0;
	#costMs = 0;
	#fullWalkMs = 0;
	#hasMovedSinceWalk = false;
	#toldOfFailure = false;
	/** An error that is a bug: thrown when the run has come to its end. */
	#bug: { readonly error: unknown } | null = null;

	constructor(run: WatchedRun) {
		this.#run = run;
		this.#clock = new CheckpointClock(run.facts.checkpoints);
		this.#timer = setTimeout(() => void this.#begin(), Math.min(START_AFTER_MS, run.facts.checkpoints.quietMs));
	}

	/** What knows where the layer changed; null as long as nothing does. */
	get watch(): LayerWatch | null {
		return this.#watch;
	}

	/** Told that the layer was taken in: what moved until then is in the store, and in a snapshot unless it says otherwise. */
	takenIn(): void {
		this.#clock.saved();
		if (this.#run.session.store.head.values().changed) this.#clock.moved(performance.now());
	}

	/** Takes no further checkpoints. */
	stop(): void {
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#timer = null;
	}

	/** Ends the watch, when nothing is taken in any more. Throws what went wrong and must not go wrong. */
	close(): void {
		this.#watch?.close();
		if (this.#bug !== null) throw this.#bug.error;
	}

	async #begin(): Promise<void> {
		const init = await this.#run.launched.init;
		if (this.#timer === null || init === null) return;
		try {
			this.#watch = new LayerWatch(this.#run.layer.place, release());
		} catch (error) {
			if (errorCode(error) === null) this.#failed(error);
			else this.#tellOfFailure(error as Error, 'max_user_instances');
		}
		this.#written = new WrittenBytes(init);
		this.#fullWalkMs = performance.now();
		// nobody has looked at what the command did until now
		this.#moved();
		await this.#tick();
	}

	async #tick(): Promise<void> {
		try {
			this.#look();
			const nowMs = performance.now();
			const due = this.#clock.due(nowMs) ?? (this.#isWalkDue(nowMs) ? 'quiet' : null);
			if (due !== null) await this.#checkpoint(due);
		} catch (error) {
			this.#failed(error);
		}
		const soonestMs = Math.min(LOOK_EVERY_MS, this.#run.facts.checkpoints.quietMs / 4);
		const delayMs = Math.min(Math.max(soonestMs, this.#costMs * COST_SHARE), LOOK_AT_LEAST_EVERY_MS);
		if (this.#timer !== null) this.#timer = setTimeout(() => void this.#tick(), delayMs);
	}

	/** Looks whether something moved. */
	#look(): void {
		const before = process.cpuUsage();
		// while events come it need not be asked what is written
		if (this.#watch?.attend(REGISTER_MS) === true || this.#hasWritten()) this.#moved();
		const failure = this.#watch?.failure ?? null;
		if (failure !== null) this.#tellOfFailure(failure, 'max_user_watches');
		const { user, system } = process.cpuUsage(before);
		this.#costMs = (user + system) / 1000;
	}

	#hasWritten(): boolean {
		const bytes = this.#written?.read() ?? 0;
		const hasMoved = bytes !== this.#writtenBytes;
		this.#writtenBytes = bytes;
		return hasMoved;
	}

	#moved(): void {
		this.#clock.moved(performance.now());
		this.#hasMovedSinceWalk = true;
	}

	#isWalkDue(nowMs: number): boolean {
		const isAtRest = this.#clock.restMs(nowMs) >= this.#run.facts.checkpoints.quietMs;
		return this.#hasMovedSinceWalk && isAtRest && this.#isFullWalkAffordable(nowMs);
	}

	#isFullWalkAffordable(nowMs: number): boolean {
		const names = [...this.#run.layer.memories.values()].reduce((sum, { count }) => sum + count, 0);
		return nowMs - this.#fullWalkMs >= Math.min(FULL_WALK_MS, names * FULL_WALK_MS_PER_NAME);
	}

	async #checkpoint(trigger: 'quiet' | 'ceiling'): Promise<void> {
		const run = this.#run;
		const isFull = this.#isFullWalkAffordable(performance.now());
		const { session } = run;
		const onlyNews = !session.store.head.values().changed;
		await run.takeInAs({ isFull, onlyNews }, ({ atRest }) => {
			if (!session.store.head.values().changed) return;
			insertSnapshot(session, { trigger, atRest: atRest && trigger === 'quiet', run: run.run });
		});
		await run.inOrder(() => run.thin());
		if (!isFull) return;
		this.#fullWalkMs = performance.now();
		this.#hasMovedSinceWalk = this.#clock.isUnsaved;
	}

	/** The run goes on; its work is taken in at the next try, or at its end. */
	#failed(error: unknown): void {
		const isFirst = this.#clock.failed(performance.now());
		if (!(error instanceof Refusal) && errorCode(error) === null) this.#bug ??= { error };
		else if (isFirst) {
			const { message } = error as Error;
			this.#run.facts.notify(`no checkpoint could be taken, the command goes on and it is tried again: ${message}`);
		}
	}

	#tellOfFailure({ message }: Error, limit: string): void {
		if (this.#toldOfFailure) return;
		this.#toldOfFailure = true;
		this.#run.facts.notify(
			`the layer cannot be watched, so each checkpoint looks at all of it: ${message}; \`sysctl fs.inotify.${limit}\` is the limit`,
		);
	}
}
