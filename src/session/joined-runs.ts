import { statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fsPath } from '../base/bytes.ts';
import { isoTime } from '../base/clock.ts';
import { Refusal } from '../base/refusal.ts';
import { processStart } from '../host/process.ts';
import type { Launched } from '../sandbox/launch.ts';
import type { Limits } from '../sandbox/limits.ts';
import type { SandboxRoot, SandboxUser } from '../sandbox/sandbox-spec.ts';
import { workingDirectory } from '../sandbox/working-directory.ts';
import { Runs } from '../store/runs.ts';
import type { HeldConnection } from './control-verbs.ts';
import type {
	InsideEnvironment,
	JoinAnswer,
	JoinedEnd,
	JoinedWord,
	JoinRequest,
	SandboxSetting,
} from './join-terms.ts';
import type { JoinedFacts } from './owner-file.ts';
import type { Notify, OwnedSession } from './session.ts';

/** What a command that joins has to know of the sandbox. */
export interface Joinable {
	readonly roots: readonly SandboxRoot[];
	readonly user: SandboxUser;
	readonly limits: Limits;
	readonly environment: InsideEnvironment;
	readonly settings: readonly SandboxSetting[];
}

/** The run that is joined. */
export interface JoinedTo {
	readonly sandbox: Joinable;
	readonly argv: readonly string[];
	/** Told what went wrong and keeps nothing from going on. */
	readonly notify: Notify;
}

/** How long those that have ended with the sandbox are waited for to say so. */
const FAREWELL_PATIENCE_MS = 2_000;

interface Joined extends JoinedFacts {
	readonly connection: HeldConnection;
	/** Settled when its end is written down. */
	readonly ended: Promise<void>;
}

/** The commands that have joined the sandbox of a run: each has a row of its own in the session's record. */
export class JoinedRuns {
	readonly #session: OwnedSession;
	readonly #launched: Launched;
	readonly #sandbox: Joinable;
	readonly #argv: readonly string[];
	readonly #scratch: string;
	readonly #notify: Notify;
	readonly #joined = new Map<number, Joined>();
	/** Told when one came or went. */
	onChange = () => {};

	constructor(session: OwnedSession, launched: Launched, facts: JoinedTo, scratch: string) {
		this.#session = session;
		this.#launched = launched;
		this.#sandbox = facts.sandbox;
		this.#argv = facts.argv;
		this.#notify = facts.notify;
		this.#scratch = scratch;
	}

	/** Those that go on, oldest first. */
	get list(): JoinedFacts[] {
		return [...this.#joined.values()].map(({ run, pid, started, argv }) => ({ run, pid, started, argv }));
	}

	/** Lets one in. Throws Refusal when it may not, or the sandbox is about to end. */
	async admit(request: JoinRequest, hold: () => HeldConnection): Promise<JoinAnswer> {
		const { roots, user, limits, environment, settings } = this.#sandbox;
		this.#checkSession(request);
		refuseOtherSettings(this.#session.id, request.settings, settings);
		const init = await this.#launched.init;
		const initStart = init === null || this.#launched.hasEnded ? null : processStart(init);
		if (init === null || initStart === null) {
			throw new Refusal('busy', 'sandbox-ended', `the run of session '${this.#session.id}' has just ended`);
		}
		const inside = workingDirectory(roots, request.cwd);
		const project = workingDirectory(roots, '/');
		const cwd = isDirectory(`/proc/${init}/root${inside}`) ? inside : project;
		const run = this.#begin(request, cwd, hold);
		const owner = { pid: process.pid, argv: this.#argv };
		return { run, owner, init, initStart, user, limits, cwd, environment, scratch: this.#scratch };
	}

	/** Asks all of them to end. */
	askToEnd(signal: JoinedWord['tell']): void {
		const word: JoinedWord = { tell: signal };
		for (const { connection } of this.#joined.values()) connection.tell(word);
	}

	/** When the sandbox has ended: until each has said how, or was waited for long enough. */
	async settle(): Promise<void> {
		const all = Promise.all([...this.#joined.values()].map(({ ended }) => ended));
		await Promise.race([all, wait(FAREWELL_PATIENCE_MS, undefined, { ref: false })]);
		for (const { run, connection } of [...this.#joined.values()]) {
			connection.close();
			this.#end(run, null);
		}
	}

	#checkSession({ uid, base }: JoinRequest): void {
		const { id, project } = this.#session;
		if (uid !== process.geteuid?.()) {
			throw new Refusal('busy', 'other-user', `session '${id}' is live under another user`, {
				hint: 'join it as the user who runs it',
			});
		}
		if (base !== null && base.path !== project.basePath) {
			throw new Refusal('busy', 'session-made', `session '${id}' is live over another directory`, {
				hint: 'try again',
			});
		}
	}

	#begin({ argv, pid }: JoinRequest, cwd: string, hold: () => HeldConnection): number {
		const started = this.#session.clock.now();
		const run = new Runs(this.#session.store).start({ argv, cwd, agent: null, backend: 'kernel', started });
		const connection = hold();
		const ended = connection.word
			.then((word) => this.#end(run, word as JoinedEnd | null))
			.catch((error: Error) => this.#notify(`how run ${run} ended is not in the record: ${error.message}`))
			.finally(() => connection.close());
		this.#joined.set(run, { run, pid, started: isoTime(started), argv, connection, ended });
		this.onChange();
		return run;
	}

	/** One that is gone without a word has ended, nobody knows how. */
	#end(run: number, end: JoinedEnd | null): void {
		if (!this.#joined.delete(run)) return;
		const { exit = null, signal = null } = end ?? {};
		new Runs(this.#session.store).end(run, { ended: this.#session.clock.now(), exit, signal });
		this.onChange();
	}
}

/** A sandbox has one shape for all that run in it: what the user asks for has to be what is there. */
function refuseOtherSettings(id: string, asked: readonly SandboxSetting[], inForce: readonly SandboxSetting[]): void {
	const present = new Map(inForce.map(({ flag, value }) => [flag, value]));
	const other = asked.filter(({ flag, value, given }) => given && present.get(flag) !== value);
	if (other.length === 0) return;
	const listed = other.map(({ flag, value }) => `${flag} ${value} (it has ${present.get(flag) ?? 'none'})`);
	throw new Refusal('usage', 'other-sandbox', `session '${id}' is live with another sandbox: ${listed.join(', ')}`, {
		hint: 'leave these out to join it; `dropcloth run --new`, with no session named, makes another over the current directory',
	});
}

function isDirectory(path: string): boolean {
	try {
		return statSync(fsPath(path), { throwIfNoEntry: false })?.isDirectory() === true;
	} catch {
		// not to be looked at from here, as with a link that leads round in a circle
		return false;
	}
}
