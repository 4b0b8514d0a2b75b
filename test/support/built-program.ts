import { spawn } from 'node:child_process';
import { inject } from 'vitest';
import type { Account, Ran, RunOptions } from './accounts.ts';

/** The built command line, as one user with a store of their own runs it. */
export interface Dropcloth {
	readonly account: Account;
	/** DROPCLOTH_HOME. */
	readonly storePath: string;
	/** Absolute path of the program. */
	readonly program: string;
	/** Runs it to its end. */
	run(args: readonly string[], options?: RunOptions): Ran;
	/** Runs it with `--json`, which must end with 0, and gives its answer. */
	json<Answer = unknown>(args: readonly string[], options?: RunOptions): Answer;
	/** Starts it in a process group of its own; the caller ends it. */
	start(args: readonly string[], options?: RunOptions): Running;
}

/** A command that goes on while the test does something else. */
export interface Running {
	readonly pid: number;
	/** Kills the process alone, not its group. */
	kill(signal: NodeJS.Signals): void;
	/** Resolves when stdout or stderr so far matches; rejects when it ended without. */
	said(pattern: RegExp): Promise<string>;
	readonly ended: Promise<Ran>;
}

/** The rig. The store's directory is made by the program itself; its parent must be the account's to write. */
export function dropcloth(account: Account, storePath: string): Dropcloth {
	const program = inject('program');
	const withStore = (options: RunOptions) => ({ ...options, env: { DROPCLOTH_HOME: storePath, ...options.env } });
	const run: Dropcloth['run'] = (args, options = {}) =>
		account.run([process.execPath, program, ...args], withStore(options));
	return {
		account,
		storePath,
		program,
		run,
		json(args, options) {
			const ran = run(withJson(args), options);
			if (ran.code !== 0)
				throw new Error(`dropcloth ${args.join(' ')} ended with ${ran.code}: ${ran.stderr}${ran.stdout}`);
			return JSON.parse(ran.stdout);
		},
		start: (args, options = {}) => startAs(account, [process.execPath, program, ...args], withStore(options)),
	};
}

/** `--json` stands before `--`, after which everything belongs to the command. */
function withJson(args: readonly string[]): string[] {
	const end = args.indexOf('--');
	return end < 0 ? [...args, '--json'] : [...args.slice(0, end), '--json', ...args.slice(end)];
}

function startAs(account: Account, command: readonly string[], options: RunOptions): Running {
	const child = spawn(command[0] as string, command.slice(1), {
		cwd: options.cwd ?? account.home,
		env: account.environment(options.env),
		uid: account.uid,
		gid: account.gid,
		detached: true,
		stdio: 'pipe',
	});
	let stdout = '';
	let stderr = '';
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		stdout += text;
	});
	child.stderr.setEncoding('utf8').on('data', (text: string) => {
		stderr += text;
	});
	child.stdin.end(options.input ?? '');
	const ended = new Promise<Ran>((resolve, reject) => {
		child.on('error', reject);
		child.on('close', (code, signal) => resolve({ stdout, stderr, code, signal }));
	});
	return {
		pid: child.pid ?? 0,
		kill: (signal) => child.kill(signal),
		ended,
		said: (pattern) =>
			new Promise((resolve, reject) => {
				const look = () => {
					const text = [stdout, stderr].find((stream) => pattern.test(stream));
					if (text !== undefined) resolve(text);
				};
				child.stdout.on('data', look);
				child.stderr.on('data', look);
				look();
				ended.then(() => reject(new Error(`ended without saying ${pattern}: ${stdout}${stderr}`)), reject);
			}),
	};
}
