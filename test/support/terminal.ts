import { type ChildProcess, spawn } from 'node:child_process';
import type { Account } from './accounts.ts';
import { testProgram } from './native-programs.ts';

/** After which a test fails with all that was shown, instead of hanging. */
const PATIENCE_MS = 20_000;

/** A program on a terminal of its own: what is typed, what is shown. */
export class Terminal {
	readonly #host: ChildProcess;
	/** Everything shown so far, and how much of it {@link shown} has passed over. */
	#text = '';
	#read = 0;
	#look = () => {};
	/** The program's exit code, once it has ended. */
	readonly ended: Promise<number | null>;

	constructor(account: Account, command: readonly string[], env: Readonly<Record<string, string>> = {}) {
		this.#host = spawn(testProgram('terminal-host'), command, {
			cwd: '/',
			env: account.environment({ TERM: 'dumb', ...env }),
			uid: account.uid,
			gid: account.gid,
			stdio: ['pipe', 'pipe', 'inherit'],
		});
		this.#host.stdin?.on('error', () => {}); // typed after the end
		this.#host.stdout?.setEncoding('utf8').on('data', (text: string) => {
			this.#text += text.replaceAll('\r', '');
			this.#look();
		});
		this.ended = new Promise((resolve, reject) => {
			this.#host.on('error', reject);
			this.#host.on('close', (code) => {
				resolve(code);
				this.#look();
			});
		});
	}

	/** Everything that has been shown. */
	get text(): string {
		return this.#text;
	}

	type(text: string): void {
		this.#host.stdin?.write(text);
	}

	/** Waits for a match in what is shown after the last match, and gives it with what was before it. */
	async shown(pattern: RegExp): Promise<string> {
		let over = '';
		void this.ended.then(() => {
			over = 'ended';
		});
		const patience = setTimeout(() => {
			over = 'went on';
			this.#look();
		}, PATIENCE_MS);
		for (;;) {
			const rest = this.#text.slice(this.#read);
			const match = pattern.exec(rest);
			if (match !== null) {
				const end = match.index + match[0].length;
				this.#read += end;
				clearTimeout(patience);
				return rest.slice(0, end);
			}
			if (over) throw new Error(`${over} without showing ${pattern}: ${JSON.stringify(this.#text.slice(-400))}`);
			await new Promise<void>((resolve) => {
				this.#look = resolve;
			});
		}
	}

	/** Makes the window 44 lines of 111 columns; it was 33 of 99. */
	resize(): void {
		this.#host.kill('SIGUSR1');
	}

	kill(): void {
		this.#host.kill('SIGKILL');
	}
}
