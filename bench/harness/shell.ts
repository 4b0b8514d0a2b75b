import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** How a shell is started. */
export interface ShellOptions {
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
}

/**
 * A shell that waits for scripts, on the host or inside a sandbox, so that scripts can be timed without the start of either.
 */
export class Shell implements AsyncDisposable {
	readonly #child: ChildProcess;
	readonly #stdin: Writable;
	readonly #ended: Promise<void>;
	#text = '';
	#look: () => void = () => {};
	#hasEnded = false;
	#scripts = 0;

	/** Starts a program that runs `/bin/sh` on its standard input at last. */
	constructor(command: readonly string[], { cwd, env }: ShellOptions) {
		const [program = '/bin/sh', ...args] = command;
		this.#child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
		this.#stdin = this.#child.stdin as Writable;
		this.#stdin.on('error', () => {}); // told by the end of the process
		(this.#child.stdout as Readable).setEncoding('utf8').on('data', (text: string) => {
			this.#text += text;
			this.#look();
		});
		this.#ended = new Promise((resolve) => {
			this.#child.once('close', () => {
				this.#hasEnded = true;
				this.#look();
				resolve();
			});
		});
	}

	/** Process id of the program that was started. */
	get pid(): number {
		return this.#child.pid ?? 0;
	}

	/** Runs a script to its end, which must be 0. Its output, and how many milliseconds it took. */
	async run(script: string): Promise<{ output: string; ms: number }> {
		const mark = `--- script ${++this.#scripts} ended with`;
		this.#text = '';
		const began = performance.now();
		this.#stdin.write(`{ ${script}\n} </dev/null\nprintf '%s %s\\n' '${mark}' $?\n`);
		const match = await this.#said(new RegExp(`^([^]*?)${mark} (\\d+)\n`));
		const ms = performance.now() - began;
		if (match?.[2] !== '0')
			throw new Error(`a script ended with ${match?.[2] ?? 'its shell'}: ${script}\n${this.#text}`);
		return { output: match[1] as string, ms };
	}

	/** Runs a script and gives its milliseconds. */
	async time(script: string): Promise<number> {
		return (await this.run(script)).ms;
	}

	/** Ends the shell and waits for all that hangs on it. */
	async [Symbol.asyncDispose](): Promise<void> {
		this.#stdin.end();
		await this.#ended;
	}

	#said(pattern: RegExp): Promise<RegExpExecArray | null> {
		return new Promise((resolve) => {
			this.#look = () => {
				// the mark is near the end: long outputs are not searched again and again
				const match = this.#text.endsWith('\n') ? pattern.exec(this.#text) : null;
				if (match !== null || this.#hasEnded) resolve(match);
			};
			this.#look();
		});
	}
}

/** A shell on the host. */
export function hostShell(options: ShellOptions): Shell {
	return new Shell(['/bin/sh'], options);
}
