import type { Time } from '../base/inode.ts';
import { isDiskFull } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import type { Launched, Outcome } from '../sandbox/launch.ts';
import { Runs } from '../store/runs.ts';
import type { Snapshot } from '../store/snapshots.ts';
import { AutoCheckpoints } from './auto-checkpoints.ts';
import type { CheckpointTimes } from './checkpoint-clock.ts';
import { ControlServer } from './control-server.ts';
import type { ControlHandlers } from './control-verbs.ts';
import type { CopiedPaths } from './drop-copies.ts';
import { HANG_UP_AFTER_MS } from './early-end.ts';
import { type Joinable, JoinedRuns } from './joined-runs.ts';
import type { KernelLive } from './kernel-live.ts';
import { type Moment, type SeenAt, type TakeInManner, type TakeInPlace, takeInLive } from './live-take-in.ts';
import { describeRun, removeOwnerFile } from './owner-file.ts';
import type { QuotaWatch } from './quota.ts';
import { endOf } from './run-end.ts';
import type { Notify, OwnedSession } from './session.ts';
import { insertSnapshot, snapshotIfChanged } from './snapshot-session.ts';
import { TakeIn } from './take-in.ts';

/** When snapshots are taken by themselves. A layer is taken in at its end in any case. */
export type SnapshotPolicy = 'all' | 'checkpoints' | 'exit' | 'none';

/** Those under which checkpoints are taken: at rest, in any case after a time, and when they are asked for. */
export const TAKE_CHECKPOINTS: ReadonlySet<SnapshotPolicy> = new Set(['all', 'checkpoints']);

/** What is known of a run when its command has been started. */
export interface LiveRunFacts {
	readonly argv: readonly string[];
	readonly cwd: string;
	/** When the launch began: until then the layer held nothing that the store does not. */
	readonly started: Time;
	readonly snapshots: SnapshotPolicy;
	readonly checkpoints: CheckpointTimes;
	readonly seenAt: SeenAt;
	/** What another command has to know to join. */
	readonly sandbox: Joinable;
	/** Told what went wrong and keeps nothing from going on. */
	readonly notify: Notify;
	/** Called when the command has ended and joined ones have not; `stop` ends them. */
	readonly onWaiting?: (stop: () => void) => void;
}

/** What a run left in the session. */
export interface RunTrace {
	readonly run: number;
	/** The snapshot that holds what it did; null when it changed nothing or none was to be taken. */
	readonly snapshot: number | null;
	/** Inodes that differ from before; null for a command that joined: what it did is not told apart. */
	readonly changed: number | null;
}

/** A run while its command goes on: answers on the control socket, and takes everything in at the end. */
export class LiveRun {
	readonly session: OwnedSession;
	readonly layer: KernelLive;
	readonly launched: Launched;
	readonly facts: LiveRunFacts;
	/** Number of the run in the session's record. */
	readonly run: number;
	readonly joined: JoinedRuns;
	/** PID 1 of the sandbox, once it is known. */
	#init: number | null = null;
	#quota: QuotaWatch | null = null;
	/** The number of the snapshot that would be the first of this run. */
	readonly #nextAtStart: number;
	/** What restores had to copy from the base. */
	readonly copied: CopiedPaths = new Map();
	/** The last thing asked for: one at a time, in order. */
	#work: Promise<unknown> = Promise.resolve();
	/** Null when none are to be taken. */
	#checkpoints: AutoCheckpoints | null = null;

	private constructor(session: OwnedSession, layer: KernelLive, launched: Launched, facts: LiveRunFacts) {
		this.session = session;
		this.layer = layer;
		this.launched = launched;
		this.facts = facts;
		this.#nextAtStart = session.store.snapshots.next();
		this.joined = new JoinedRuns(session, launched, facts, layer.place.path);
		this.joined.onChange = () => this.#describe();
		this.run = this.#begin();
	}

	/** Takes a command on that has been launched; described in the owner's file when this returns. */
	static begin(session: OwnedSession, launched: Launched, facts: LiveRunFacts): LiveRun {
		if (session.live === null) throw new Error('a run without a live layer');
		return new LiveRun(session, session.live, launched, facts);
	}

	/** Accompanies it to its end, and does what is asked meanwhile on the control socket. */
	async accompany(handlers: ControlHandlers): Promise<{ outcome: Outcome; trace: RunTrace }> {
		const launched = this.launched;
		const server = await ControlServer.listen(this.session.place, handlers);
		const described = launched.init
			.then((init) => {
				this.#init = init;
				if (!launched.hasEnded) this.#describe();
			})
			.catch((error: Error) => this.facts.notify(`others cannot see what runs: ${error.message}`));
		if (TAKE_CHECKPOINTS.has(this.facts.snapshots)) this.#checkpoints = new AutoCheckpoints(this);
		void launched.commandEnded.then(() => this.#tellWaiting());
		const outcome = await launched.ended;
		server.close();
		this.#checkpoints?.stop();
		await this.joined.settle();
		await this.#settled();
		const trace = this.#finish(outcome);
		await described;
		await this.#dropCopies();
		await this.thin();
		this.#checkpoints?.close();
		return { outcome, trace };
	}

	#begin(): number {
		this.layer.start(this.launched);
		const { argv, cwd, started, snapshots } = this.facts;
		if (snapshots === 'all') snapshotIfChanged(this.session, { trigger: 'start' });
		this.#describe();
		return new Runs(this.session.store).start({ argv, cwd, agent: null, backend: 'kernel', started });
	}

	/** Says in the owner's file how the layer does with its quota. */
	watchQuota(quota: QuotaWatch): void {
		this.#quota = quota;
		quota.onChange = () => this.#describe();
		this.#describe();
	}

	/** Whether everything inside is gone. */
	get hasEnded(): boolean {
		return this.launched.hasEnded;
	}

	/** Sends a signal to the command and to all that has joined; SIGKILL ends everything inside. */
	kill(signal: NodeJS.Signals): void {
		if (signal === 'SIGTERM' || signal === 'SIGHUP') this.joined.askToEnd(signal);
		this.launched.kill(signal);
	}

	/** Asks all that is inside to end, and kills what does not. */
	stop(): void {
		this.joined.askToEnd('SIGTERM');
		setTimeout(() => this.joined.askToEnd('SIGHUP'), HANG_UP_AFTER_MS).unref();
		this.layer.stop();
	}

	#tellWaiting(): void {
		const { waiting } = this.launched.report();
		if (this.launched.hasEnded || waiting === null) return;
		const commands = waiting === 1 ? '1 joined command still runs' : `${waiting} joined commands still run`;
		this.facts.notify(`the command has ended; ${commands} in session ${this.session.id}`);
		this.facts.onWaiting?.(() => this.stop());
	}

	#describe(): void {
		const { started, argv } = this.facts;
		describeRun(this.session.place, {
			layer: this.layer.place,
			basePath: this.session.project.basePath,
			started,
			argv,
			init: this.#init,
			quota: this.#quota?.state ?? null,
			joined: this.joined.list,
		});
	}

	/** What there is to be taken in. */
	get takeInPlace(): TakeInPlace {
		const { session, layer, launched } = this;
		const { seenAt, started } = this.facts;
		return { session, layer, launched, seenAt, agreedAt: started, watch: this.#checkpoints?.watch ?? null };
	}

	/**
	 * Takes the layer in as it is at one moment, when everything asked for before is done; `within` joins the transaction.
	 * Somebody asked: all of it is looked at, for there are writes that no event tells of.
	 */
	async takeIn<T>(within: (moment: Moment) => T): Promise<T> {
		const taken = await this.takeInAs({ isFull: true }, within);
		if (taken === null) throw new Error('a layer was not taken in');
		return taken.result;
	}

	/** The same in a manner; null when only news were wanted and there are none. */
	takeInAs<T>(manner: TakeInManner, within: (moment: Moment) => T): Promise<{ readonly result: T } | null> {
		return this.inOrder(async () => {
			const taken = await takeInLive(this.takeInPlace, manner, within);
			this.#checkpoints?.takenIn();
			return taken;
		});
	}

	/** Does something when everything asked for before is done: only one thing at a time changes the tree. */
	inOrder<T>(action: () => Promise<T>): Promise<T> {
		const turn = this.#work.catch(() => {}).then(action);
		this.#work = turn;
		return turn;
	}

	/** Until nothing that was asked for is left to be done. */
	async #settled(): Promise<void> {
		for (let last: Promise<unknown> | null = null; last !== this.#work; ) {
			last = this.#work;
			await last.catch(() => {});
		}
	}

	#finish(outcome: Outcome): RunTrace {
		const { store, clock } = this.session;
		const takeIn = new TakeIn(store, this.layer, this.facts.started);
		takeIn.scan();
		const trace = takeIn.commit((changed) => {
			const snapshot = this.#exitSnapshot();
			new Runs(store).end(this.run, { ended: clock.now(), ...endOf(outcome) });
			return { run: this.run, snapshot: snapshot?.id ?? null, changed };
		});
		removeOwnerFile(this.session.place);
		return trace;
	}

	/** Of what a restore meanwhile put back to the base, nothing stays in the layer. */
	async #dropCopies(): Promise<void> {
		if (this.copied.size === 0) return;
		const { dropCopies } = await import('./drop-copies.ts');
		try {
			dropCopies(this.session, this.copied);
		} catch (error) {
			if (!(error instanceof Refusal) && !isDiskFull(error)) throw error;
			this.facts.notify(`copies of the base stay in the layer: ${(error as Error).message}`);
		}
	}

	/** Thins old checkpoints for a moment. A run that made no history leaves it alone. */
	async thin(): Promise<void> {
		const { store } = this.session;
		if (store.snapshots.next() === this.#nextAtStart) return;
		const { thinHistory } = await import('./thin-session.ts');
		try {
			thinHistory(this.session);
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			this.facts.notify(`old checkpoints could not be thinned out: ${error.message}`);
		}
	}

	#exitSnapshot(): Snapshot | null {
		const { snapshots } = this.facts;
		const wanted = snapshots === 'all' || snapshots === 'exit';
		if (!wanted || !this.session.store.head.values().changed) return null;
		return insertSnapshot(this.session, { trigger: 'exit', run: this.run });
	}
}
