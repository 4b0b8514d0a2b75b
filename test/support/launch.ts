import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Account } from './accounts.ts';
import { builtLauncher } from './native-programs.ts';

export interface LaunchOptions {
	/** Descriptors 0 to 2; a pipe where nothing is given. */
	readonly stdio?: readonly ('pipe' | number)[];
	/** Written to standard input, which then ends. */
	readonly input?: string;
	/** An open descriptor for number 6. */
	readonly lock?: number;
	/** More descriptors, from 7 on. */
	readonly more?: readonly number[];
	readonly env?: Readonly<Record<string, string>>;
}

/** How a launch ended. */
export interface Ended {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly stdout: string;
	readonly stderr: string;
	/** The lines of the report. */
	readonly report: readonly string[];
	/** The line of the report that tells of a failure, or ''. */
	readonly failure: string;
}

/** Starts the launcher as an account, with the plan on an open descriptor. */
export function startLaunch(account: Account, plan: number, options: LaunchOptions): Launch {
	const { stdio = [], lock, more = [], env } = options;
	const child = spawn(builtLauncher(), [String(process.pid)], {
		cwd: '/',
		env: account.environment(env),
		uid: account.uid,
		gid: account.gid,
		stdio: [
			stdio[0] ?? 'pipe',
			stdio[1] ?? 'pipe',
			stdio[2] ?? 'pipe',
			plan,
			'pipe',
			'pipe',
			lock ?? 'ignore',
			...more,
		],
	});
	const launch = new Launch(child);
	if (options.input !== undefined) launch.stdin.end(options.input);
	return launch;
}

/** A launcher that runs, and what it and its command have said so far. */
export class Launch {
	readonly ended: Promise<Ended>;
	readonly #child: ChildProcess;
	readonly #stdout: Collected;
	readonly #stderr: Collected;
	readonly #report: Collected;
	readonly #answers: Collected;
	#answersRead = 0;

	constructor(child: ChildProcess) {
		this.#child = child;
		this.#stdout = new Collected(child.stdout);
		this.#stderr = new Collected(child.stderr);
		this.#report = new Collected(extraStream(child, 4));
		this.#answers = new Collected(extraStream(child, 5));
		child.stdin?.on('error', () => {}); // a launcher that refuses its plan reads none of it
		this.ended = new Promise((resolve, reject) => {
			child.on('error', reject);
			child.on('close', (code, signal) => resolve(this.#outcome(code, signal)));
		});
	}

	/** Process id of the launcher, the parent of the sandbox's PID 1. */
	get pid(): number {
		return this.#child.pid ?? 0;
	}

	get stdin(): Writable {
		return this.#child.stdin as Writable;
	}

	/** The owner's end of descriptor 5. */
	get control(): Duplex {
		return extraStream(this.#child, 5);
	}

	/** Process id of the sandbox's PID 1, once it is there. */
	async init(): Promise<number> {
		const text = await this.#report.matching(/^init \d+$/m);
		return Number(/^init (\d+)$/m.exec(text)?.[1]);
	}

	/** Waits for a line that the launcher tells the owner unasked on descriptor 5. */
	told(pattern: RegExp): Promise<string> {
		return this.#answers.matching(pattern);
	}

	/** The report so far. */
	get reported(): string {
		return this.#report.text;
	}

	/** All that the command has written, once that matches. */
	said(pattern: RegExp): Promise<string> {
		return this.#stdout.matching(pattern);
	}

	/** Sends a request of the owner and gives the line that answers it. */
	async ask(request: 'F' | 'T' | string): Promise<string> {
		// Lines that nobody asked for are passed over.
		const lines = new RegExp(`^(?:(?:waiting .*\n)*(?!waiting ).*\n){${this.#answersRead + 1}}`);
		this.control.write(request);
		const text = await this.#answers.matching(lines);
		return text.split('\n').filter((line) => !line.startsWith('waiting '))[this.#answersRead++] ?? '';
	}

	kill(signal: NodeJS.Signals): void {
		this.#child.kill(signal);
	}

	#outcome(code: number | null, signal: NodeJS.Signals | null): Ended {
		const report = this.#report.text.split('\n').filter((line) => line !== '');
		const failure = report.find((line) => line.startsWith('fail ')) ?? '';
		return { code, signal, stdout: this.#stdout.text, stderr: this.#stderr.text, report, failure };
	}
}

/** A pipe beyond the standard ones: both ways, and not in the type of `stdio` beyond the fifth. */
function extraStream(child: ChildProcess, fd: number): Duplex {
	return (child.stdio as readonly unknown[])[fd] as Duplex;
}

/** All that a stream has said, and waiting for some of it. */
class Collected {
	text = '';
	readonly #stream: Readable | null;

	constructor(stream: Readable | null) {
		this.#stream = stream;
		stream?.setEncoding('utf8');
		stream?.on('data', (part: string) => {
			this.text += part;
		});
		stream?.on('error', () => {}); // told by the end of the process
	}

	matching(pattern: RegExp): Promise<string> {
		const stream = this.#stream;
		return new Promise((resolve, reject) => {
			const done = () => {
				stream?.off('data', look);
				stream?.off('close', ended);
			};
			const look = () => {
				if (!pattern.test(this.text)) return;
				done();
				resolve(this.text);
			};
			const ended = () => {
				done();
				reject(new Error(`ended without ${pattern}: ${this.text}`));
			};
			stream?.on('data', look);
			stream?.on('close', ended);
			look();
		});
	}
}
