import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Account } from './accounts.ts';
import { until } from './until.ts';

/** A tmux server of its own, with a shell in each window; killed at the end. */
export class Tmux implements Disposable {
	readonly #account: Account;
	readonly #place: string;
	readonly #env: Readonly<Record<string, string>>;

	/** Whether there is a tmux on this machine. */
	static isThere(account: Account): boolean {
		return account.run(['sh', '-c', 'command -v tmux'], { cwd: '/' }).code === 0;
	}

	/** `place` is a directory of the account; windows start in `cwd` with `env`. */
	constructor(account: Account, place: string, cwd: string, env: Readonly<Record<string, string>>) {
		this.#account = account;
		this.#place = place;
		this.#env = { ...env, TMUX_TMPDIR: place };
		this.#tmux(
			'-f',
			'/dev/null',
			'new-session',
			'-d',
			'-s',
			'test',
			'-x',
			'200',
			'-y',
			'50',
			'-c',
			cwd,
			'-n',
			'first',
			...SHELL,
		);
	}

	/** Opens a window of this name with a shell in it; its output is kept. */
	open(name: string, cwd: string): TmuxWindow {
		this.#tmux('new-window', '-d', '-n', name, '-t', 'test', '-c', cwd, ...SHELL);
		const log = join(this.#place, `${name}.log`);
		this.#tmux('pipe-pane', '-t', `test:${name}`, `cat >> '${log}'`);
		return new TmuxWindow(log, (text) => {
			this.#tmux('send-keys', '-t', `test:${name}`, '-l', text);
			this.#tmux('send-keys', '-t', `test:${name}`, 'Enter');
		});
	}

	[Symbol.dispose](): void {
		this.#tmux('kill-server');
	}

	#tmux(...args: string[]): void {
		const ran = this.#account.run(['tmux', '-L', 'dropcloth-test', ...args], { cwd: '/', env: this.#env });
		if (ran.code !== 0) throw new Error(`tmux ${args.join(' ')}: ${ran.stderr}`);
	}
}

const SHELL = ['bash', '--norc', '--noprofile'];

/** One window. */
export class TmuxWindow {
	readonly #log: string;
	/** Types a line. */
	readonly type: (line: string) => void;
	#read = 0;

	constructor(log: string, type: (line: string) => void) {
		this.#log = log;
		this.type = type;
	}

	/** Everything that has been shown. */
	get text(): string {
		try {
			return stripVTControlCharacters(readFileSync(this.#log, 'utf8')).replaceAll('\r', '');
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
			throw error;
		}
	}

	/** From now on only what is shown later counts. */
	forget(): void {
		this.#read = this.text.length;
	}

	/** Waits for a match in what was shown after the last one. */
	async shown(pattern: RegExp, timeoutMs = 60_000): Promise<RegExpExecArray> {
		const match = await until(
			`${pattern} in ${this.#log}`,
			() => pattern.exec(this.text.slice(this.#read)),
			timeoutMs,
		).catch((error: Error) => {
			throw new Error(`${error.message}: ${JSON.stringify(this.text.slice(-2000))}`, { cause: error });
		});
		this.#read += match.index + match[0].length;
		return match;
	}
}
