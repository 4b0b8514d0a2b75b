import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, readSync, writeSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import type { Duplex, Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { encodeName, isUtf8Name } from '../base/bytes.ts';
import { errorCode, PosixError } from '../base/posix-error.ts';
import { openNamelessFile } from './nameless-file.ts';
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

/** What a freeze took. */
export interface Freeze {
	readonly microseconds: number;
	readonly processes: number;
	readonly rounds: number;
}

/**
 * Starts the launcher on a plan. Plan and report go through nameless files: a pipe costs more than a millisecond of the way
 * to the command. To be called from a thread that lives as long as the command: the launcher dies with it.
 */
export function launch(options: LaunchOptions): Launched {
	const { launcher, plan, environment, scratch, streams = INHERIT, lockFd, control = false } = options;
	const planFd = openNamelessFile(scratch);
	const reportFd = openNamelessFile(scratch);
	try {
		// Written at a position, so that the launcher, which shares the file's offset, reads from the start.
		writeAll(planFd, encodePlan(plan, environment), scratch);
		const child = spawn(launcher, [String(process.pid)], {
			cwd: '/',
			env: environment,
			stdio: [...streams, planFd, reportFd, control ? 'pipe' : 'ignore', ...(lockFd === undefined ? [] : [lockFd])],
		});
		return new Launched(child, reportFd);
	} catch (error) {
		closeSync(reportFd);
		throw error;
	} finally {
		closeSync(planFd);
	}
}

const INHERIT = ['inherit', 'inherit', 'inherit'] as const;

function encodePlan({ operations }: Plan, environment: LaunchOptions['environment']): Buffer {
	const beforeExec = [...operations.slice(0, -1), ...exactVariables(environment), ...operations.slice(-1)];
	const words = ['plan 1', ...beforeExec.flat()];
	const nul = words.find((word) => word.includes('\0'));
	if (nul !== undefined) throw new Error(`a word of the plan holds a NUL: ${JSON.stringify(nul)}`);
	return encodeName(`${words.join('\0')}\0`);
}

/** Node hands an environment over as UTF-8 alone: the values that are none go into the plan. */
function exactVariables(environment: LaunchOptions['environment']): string[][] {
	return Object.entries(environment)
		.filter(([, value]) => !isUtf8Name(value))
		.map(([name, value]) => ['setenv', `${name}=${value}`]);
}

function writeAll(fd: number, bytes: Buffer, directory: string): void {
	try {
		for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
	} catch (error) {
		const code = errorCode(error);
		throw code === null ? error : new PosixError(code, 'write a file in', directory, error);
	}
}

/** A running sandbox. */
export class Launched {
	/** Process id of the launcher. */
	readonly pid: number;
	/** Process id of the sandbox's PID 1; null when setting up failed before there was one. */
	readonly init: Promise<number | null>;
	/** All mounts are made and the command is about to run; false when that failed. */
	readonly ready: Promise<boolean>;
	readonly ended: Promise<Outcome>;
	readonly stdin: Writable | null;
	readonly stdout: Readable | null;
	readonly stderr: Readable | null;
	readonly #child: ChildProcess;
	readonly #reportFd: number;
	readonly #control: Duplex | null;
	/** The whole report, once the launcher has ended. */
	#final: Report | null = null;
	/** Answers that are waited for, in the order of the requests. */
	readonly #waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];

	constructor(child: ChildProcess, reportFd: number) {
		this.#child = child;
		this.#reportFd = reportFd;
		this.pid = child.pid ?? 0;
		this.stdin = child.stdin;
		this.stdout = child.stdout;
		this.stderr = child.stderr;
		this.#control = ((child.stdio as readonly unknown[])[5] as Duplex | null | undefined) ?? null;
		this.ended = this.#waitForEnd();
		if (this.#control !== null) this.#listen(this.#control);
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
		const line = await this.#ask('F');
		const match = /^frozen (\d+) procs (\d+) rounds (\d+)/.exec(line);
		if (match === null) throw new Error(`the launcher answered a freeze with '${line}'`);
		return { microseconds: Number(match[1]), processes: Number(match[2]), rounds: Number(match[3]) };
	}

	/** Lets go on what {@link freeze} stopped; what stood still before stays so. */
	async thaw(): Promise<void> {
		const line = await this.#ask('T');
		if (line !== 'thawed') throw new Error(`the launcher answered a thaw with '${line}'`);
	}

	/** Sends a signal to the command; SIGKILL ends the launcher and with it everything inside. */
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
		this.#control?.destroy();
		for (const { reject } of this.#waiting.splice(0)) reject(new Error('the sandbox has ended'));
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

	#listen(control: Duplex): void {
		let buffered = '';
		control.setEncoding('latin1');
		control.on('data', (text: string) => {
			const lines = (buffered + text).split('\n');
			buffered = lines.pop() ?? '';
			for (const line of lines) this.#waiting.shift()?.resolve(line);
		});
		// A launcher that has just ended: its end tells the waiting ones.
		control.on('error', () => {});
	}

	#ask(letter: 'F' | 'T'): Promise<string> {
		const control = this.#control;
		if (control === null) throw new Error('this sandbox was launched without control');
		if (this.#final !== null) throw new Error('the sandbox has ended');
		return new Promise((resolve, reject) => {
			this.#waiting.push({ resolve, reject });
			control.write(letter);
		});
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
