import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { SessionRig } from './session-rig.ts';

/** A shell inside a session's sandbox that waits for scripts, so that the session stays live between them. */
export class LiveShell {
	readonly #child: ChildProcess;
	#text = '';
	#errors = '';
	#look = () => {};
	#scripts = 0;
	#hasEnded = false;
	/** The exit code of `dropcloth`, and what it and the shell said on stderr. */
	readonly ended: Promise<{ code: number | null; stderr: string }>;

	/** Starts it by `dropcloth quick` and waits until it listens. `program` is the command line, the built one unless said. */
	static async start(rig: SessionRig, flags: readonly string[] = [], program = rig.cli.program): Promise<LiveShell> {
		const { account, storePath } = rig.cli;
		const shell = new LiveShell(
			spawn(process.execPath, [program, 'quick', rig.project, ...flags, '--', 'sh'], {
				cwd: rig.project,
				env: account.environment({ DROPCLOTH_HOME: storePath }),
				uid: account.uid,
				gid: account.gid,
				stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
			}),
		);
		await shell.run(':');
		return shell;
	}

	private constructor(child: ChildProcess) {
		this.#child = child;
		child.stdin?.on('error', () => {}); // told by the end of the process
		child.stdout?.setEncoding('utf8').on('data', (text: string) => {
			this.#text += text;
			this.#look();
		});
		child.stderr?.setEncoding('utf8').on('data', (text: string) => {
			this.#errors += text;
		});
		this.ended = once(child, 'close').then(([code]) => {
			this.#hasEnded = true;
			this.#look();
			return { code, stderr: this.#errors };
		});
	}

	/** Process id of the session's owner. */
	get pid(): number {
		return this.#child.pid ?? 0;
	}

	/** Runs a script in the one shell, so that a `cd` stays; its output, whatever its exit code. */
	async run(script: string): Promise<string> {
		const mark = `--- script ${++this.#scripts} has ended`;
		this.#text = '';
		this.#child.stdin?.write(`${script}\nprintf '%s\\n' '${mark}'\n`);
		await new Promise<void>((resolve) => {
			this.#look = () => {
				if (this.#hasEnded || this.#text.endsWith(`${mark}\n`)) resolve();
			};
			this.#look();
		});
		if (this.#hasEnded) throw new Error(`the shell inside ended: ${this.#text}${this.#errors}`);
		return this.#text.slice(0, -mark.length - 1);
	}

	/** Has the owner die at the `count`-th crash point from now; for test/support/crashing-program.ts. */
	async arm(count: number): Promise<void> {
		this.#child.send(count);
		await once(this.#child, 'message');
	}

	kill(signal: NodeJS.Signals): void {
		this.#child.kill(signal);
	}

	/** Ends the shell, and with it the run. */
	async end(): Promise<{ code: number | null; stderr: string }> {
		this.#child.stdin?.end();
		return await this.ended;
	}
}
