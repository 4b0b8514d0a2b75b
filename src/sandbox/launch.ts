import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, readSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import type { Duplex, Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { ControlChannel, type Freeze, type Thaw } from './control-channel.ts';
import { openNamelessFile } from './nameless-file.ts';
import { writePlan } from './plan-file.ts';
import type { Plan } from './plan-writer.ts';
import { type LaunchFailure, parseReport, type Report } from './report.ts';

/** One of the command's three standard streams: the caller's own, a pipe, nothing, or an open descriptor. */
export type StandardStream = 'inherit' | 'pipe' | 'ignore' | number;

/** What a launch needs beside its plan. */
export interface LaunchOptions {
	/** The launcher's binary. */
	readonly launcher: string;
	readonly plan: Plan;
	/** The command's environment, all of it. */
	readonly environment: Readonly<Record<string, string>>;
	/** A writable directory in which plan and report get nameless files. */
	readonly scratch: string;
	readonly streams?: readonly [StandardStream, StandardStream, StandardStream];
	/** Descriptor of the owner's lock file, for a plan with a lock. */
	readonly lockFd?: number;
	/** The launcher's end of a channel for descriptors, for a plan that hands one out. */
	readonly handOutFd?: number;
	/** For a plan with `control`: freeze and thaw are possible. Costs a socket. */
	readonly control?: boolean;
}

/** How a launch ended. */
export type Outcome =
	| { readonly kind: 'exited'; readonly code: number }
	| { readonly kind: 'killed'; readonly signal: number }
	/** There was no such command (127), or it could not be executed (126). */
	| { readonly kind: 'not-executed'; readonly code: 126 | 127; readonly errno: number }
	/** The sandbox could not be set up; nothing ran. */
	| { readonly kind: 'failed'; readonly failure: LaunchFailure };

/**
 * Starts the launcher on a plan. Plan and report go through nameless files: a pipe costs more than a millisecond of the way
 * to the command. To be called from a thread that lives as long as the command: the launcher dies with it.
 */
export function launch(options: LaunchOptions): Launched {
	const { launcher, plan, environment, scratch, streams = INHERIT, lockFd, handOutFd, control = false } = options;
	const planFd = openNamelessFile(scratch);
	const reportFd = openNamelessFile(scratch);
	try {
		writePlan(planFd, plan, environment, scratch);
		const child = spawn(launcher, [String(process.pid)], {
			cwd: '/',
			env: environment,
			stdio: [...streams, planFd, reportFd, control ? 'pipe' : 'ignore', ...inherited(lockFd, handOutFd)],
		});
		return new Launched(child, reportFd);
	} catch (error) {
		closeSync(reportFd);
		throw error;
	} finally {
		closeSync(planFd);
	}
}

/** Descriptors 6 and 7. */
function inherited(lockFd: number | undefined, handOutFd: number | undefined): StandardStream[] {
	if (handOutFd !== undefined) return [lockFd ?? 'ignore', handOutFd];
	return lockFd === undefined ? [] : [lockFd];
}

const INHERIT = ['inherit', 'inherit', 'inherit'] as const;

/** A running sandbox. */
export class Launched {
	/** Process id of the launcher. */
	readonly pid: number;
	/** Process id of the sandbox's PID 1; null when setting up failed before there was one. */
	readonly init: Promise<number | null>;
	/** All mounts are made and the command is about to run; false when that failed. */
	readonly ready: Promise<boolean>;
	/** Everything inside is gone. */
	readonly ended: Promise<Outcome>;
	/**
	 * The command itself has ended. With `control` this may be before {@link ended}: the sandbox goes on until all that has
	 * joined has ended too; the report says how many those are.
	 */
	readonly commandEnded: Promise<Outcome>;
	readonly stdin: Writable | null;
	readonly stdout: Readable | null;
	readonly stderr: Readable | null;
	readonly #child: ChildProcess;
	readonly #reportFd: number;
	readonly #control: ControlChannel | null;
	/** The whole report, once the launcher has ended. */
	#final: Report | null = null;

	constructor(child: ChildProcess, reportFd: number) {
		this.#child = child;
		this.#reportFd = reportFd;
		this.pid = child.pid ?? 0;
		this.stdin = child.stdin;
		this.stdout = child.stdout;
		this.stderr = child.stderr;
		const control = ((child.stdio as readonly unknown[])[5] as Duplex | null | undefined) ?? null;
		this.#control = control === null ? null : new ControlChannel(control);
		this.ended = this.#waitForEnd();
		this.commandEnded = this.#waitForCommand();
		this.init = this.#reported(({ init }) => init);
		this.ready = this.#reported(({ ready }) => ready || null).then((ready) => ready === true);
	}

	/** Whether everything inside is gone. */
	get hasEnded(): boolean {
		return this.#final !== null;
	}

	/** What the launcher has said so far. */
	report(): Report {
		return this.#final ?? parseReport(readWhole(this.#reportFd));
	}

	/** Stops every process of the sandbox; nothing in it moves when this resolves. Needs `control`. */
	async freeze(): Promise<Freeze> {
		return this.#running().freeze();
	}

	/** Lets go on what {@link freeze} stopped; what stood still before stays so. */
	async thaw(): Promise<Thaw> {
		return this.#running().thaw();
	}

	/**
	 * Sends a signal to the command, or to all that is inside when it has ended. SIGKILL ends the launcher and with it
	 * everything inside.
	 */
	kill(signal: NodeJS.Signals): void {
		this.#child.kill(signal);
	}

	#waitForEnd(): Promise<Outcome> {
		return new Promise((resolve) => {
			this.#child.once('error', (error) => {
				// Also told when a signal could not be sent; only without a process it means that nothing was started.
				if (this.pid !== 0) return;
				this.#close();
				resolve({ kind: 'failed', failure: notSpawned(error) });
			});
			this.#child.once('exit', (code, signal) => resolve(outcomeOf(this.#close(), code, signal)));
		});
	}

	#close(): Report {
		const report = this.report();
		this.#final = report;
		closeSync(this.#reportFd);
		this.#control?.close();
		return report;
	}

	/** Looks at the report until it says what is asked for, or nothing more can come. */
	async #reported<T>(pick: (report: Report) => T | null): Promise<T | null> {
		for (let delayMs = 1; this.#final === null; delayMs = Math.min(delayMs * 2, LONGEST_LOOK_MS)) {
			const found = pick(this.report());
			if (found !== null) return found;
			await Promise.race([wait(delayMs, undefined, { ref: false }), this.ended]);
		}
		return pick(this.#final);
	}

	#waitForCommand(): Promise<Outcome> {
		const waiting = this.#control?.waiting.then(() => outcomeOf(this.report(), null, null));
		return waiting === undefined ? this.ended : Promise.race([waiting, this.ended]);
	}

	#running(): ControlChannel {
		if (this.#control === null) throw new Error('this sandbox was launched without control');
		if (this.#final !== null) throw new Error('the sandbox has ended');
		return this.#control;
	}
}

const LONGEST_LOOK_MS = 32;
/** The launcher's exit code when it could not do its work. */
const LAUNCHER_FAILED = 125;

function readWhole(fd: number): string {
	const parts: Buffer[] = [];
	for (let at = 0; ; ) {
		const part = Buffer.alloc(4096);
		const length = readSync(fd, part, 0, part.length, at);
		if (length === 0) return Buffer.concat(parts).toString('latin1');
		parts.push(part.subarray(0, length));
		at += length;
	}
}

function notSpawned(error: Error & { errno?: number }): LaunchFailure {
	return { index: -1, errno: -(error.errno ?? 0), operation: 'spawn', text: error.message, kernelText: null };
}

function outcomeOf(report: Report, code: number | null, signal: NodeJS.Signals | null): Outcome {
	const { failure, execErrno } = report;
	if (failure !== null) return { kind: 'failed', failure };
	if (execErrno !== null) return { kind: 'not-executed', code: code === 127 ? 127 : 126, errno: execErrno };
	if (report.signal !== null) return { kind: 'killed', signal: report.signal };
	if (report.exit !== null) return { kind: 'exited', code: report.exit };
	// The launcher itself was killed, and what ran in it died with it.
	if (signal !== null) return { kind: 'killed', signal: osConstants.signals[signal] };
	// Nothing was reported: either the report found no room on the disk, or the launcher refused to begin.
	if (code === LAUNCHER_FAILED && report.init === null) {
		return { kind: 'failed', failure: { index: -1, errno: 0, operation: 'start', text: '', kernelText: null } };
	}
	return { kind: 'exited', code: code ?? 0 };
}
