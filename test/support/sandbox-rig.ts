import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'vite';
import { fsPath } from '../../src/base/bytes.ts';
import { NO_LIMITS } from '../../src/sandbox/limits.ts';
import type { SandboxRequest } from '../../src/sandbox/sandbox-request.ts';
import type { SandboxRoot } from '../../src/sandbox/sandbox-spec.ts';
import type { Account, Ran, RunOptions } from './accounts.ts';
import { builtLauncher } from './native-programs.ts';
import type { Result, Task } from './sandbox-program.ts';
import { PROJECT } from './source-files.ts';

/** How a sandbox was run: streams and code of the program, and what it says itself. */
export interface SandboxRun extends Ran, Result {}

/** A host with a home, a project in it and a store, where sandboxes are run as one account. */
export class SandboxRig {
	readonly account: Account;
	/** Holds everything; removed at the end. */
	readonly path: string;
	readonly home: string;
	readonly store: string;
	readonly project: string;
	/** What the program is told is written here. */
	readonly tasks: string;
	readonly #program: string;
	#taskCount = 0;

	private constructor(account: Account, program: string, parent: string) {
		this.account = account;
		this.#program = program;
		this.path = mkdtempSync(join(parent, 'dropcloth-sandbox-'));
		chmodSync(this.path, 0o755);
		this.home = join(this.path, 'home');
		this.store = join(this.path, 'store');
		this.project = join(this.home, 'project');
		this.tasks = join(this.path, 'tasks');
		for (const path of [this.project, this.store, this.tasks]) mkdirSync(path, { recursive: true });
		this.settle();
	}

	/** Makes one below `parent`. Not in /tmp unless asked: a sandbox hides what is there. */
	static async make(account: Account, parent = OUTSIDE_TMP): Promise<SandboxRig> {
		mkdirSync(parent, { recursive: true });
		return new SandboxRig(account, await sandboxProgram(), parent);
	}

	/** Writes a file of the account, below the rig's directory unless absolute. */
	write(name: string, content: string): string {
		const path = name.startsWith('/') ? name : join(this.path, name);
		mkdirSync(fsPath(dirname(path)), { recursive: true });
		writeFileSync(fsPath(path), content);
		return path;
	}

	/** Gives everything to the account. */
	settle(): void {
		this.account.own(this.path);
	}

	/** A tree of the session, its layer in the store. */
	root(role: SandboxRoot['role'], path: string, lowers: readonly string[] = [path]): SandboxRoot {
		const layer = join(this.store, 'layer', role);
		return { role, path, lowers, upper: join(layer, 'upper'), work: join(layer, 'work') };
	}

	request(command: readonly string[], change: Partial<SandboxRequest> = {}): SandboxRequest {
		return {
			sessionId: 'rig',
			roots: [this.root('project', this.project), this.root('home', this.home)],
			home: this.home,
			cwd: this.project,
			reads: 'home',
			network: 'host',
			mask: [],
			unmask: [],
			bind: [],
			roBind: [],
			storePath: this.store,
			installed: [],
			channel: null,
			force: false,
			lock: null,
			control: false,
			limits: NO_LIMITS,
			command,
			...change,
		};
	}

	/** Runs a command in a sandbox. */
	run(command: readonly string[], change: Partial<SandboxRequest> = {}, options: RunOptions = {}): SandboxRun {
		const task = { run: this.request(command, change), launcher: builtLauncher(), scratch: this.store };
		return this.perform(task, [], options);
	}

	/** Runs a shell script in a sandbox and gives what it printed; throws when it did not end with 0. */
	shell(script: string, change: Partial<SandboxRequest> = {}, options: RunOptions = {}): string {
		const ran = this.run(['/bin/sh', '-c', script], change, options);
		const { code, refusal, stdout, stderr } = ran;
		if (code !== 0 || refusal !== undefined) {
			throw new Error(`ended with ${code} ${refusal?.message ?? ''}\n${stderr}\n${stdout}`);
		}
		return ran.stdout;
	}

	/** Runs the kernel probe. `before` is put in front of the program, such as `unshare` and a script. */
	probe(change: Partial<{ storePath: string; basePath: string | null }> = {}, before: readonly string[] = []) {
		const request = { storePath: this.store, basePath: this.project, launcher: builtLauncher(), ...change };
		const { probe, stderr } = this.perform({ probe: request }, before);
		if (probe === undefined) throw new Error(`no probe: ${stderr}`);
		return probe;
	}

	/** The command line of the program for a task, for a test that starts it by itself; with the file of its result. */
	commandLine(task: Task): { readonly command: string[]; readonly resultFile: string } {
		const taskFile = join(this.tasks, `${++this.#taskCount}`);
		const resultFile = join(this.store, `result-${this.#taskCount}`);
		writeFileSync(taskFile, JSON.stringify(task));
		chmodSync(taskFile, 0o644);
		return { command: [process.execPath, this.#program, taskFile, resultFile], resultFile };
	}

	perform(task: Task, before: readonly string[] = [], options: RunOptions = {}): SandboxRun {
		const { command, resultFile } = this.commandLine(task);
		const env = { HOME: this.home, ...options.env };
		const ran = this.account.run([...before, ...command], { cwd: '/', ...options, env });
		return { ...ran, ...readResult(resultFile, ran) };
	}

	[Symbol.dispose](): void {
		this.account.run(['chmod', '-R', 'u+rwX', this.store], { cwd: '/' });
		rmSync(this.path, { recursive: true, force: true, maxRetries: 3 });
	}
}

const OUTSIDE_TMP = '/var/lib/dropcloth-test';

function readResult(path: string, ran: Ran): Result {
	try {
		return JSON.parse(readFileSync(path, 'utf8')) as Result;
	} catch (error) {
		throw new Error(`the program left no result: ${JSON.stringify(ran)}`, { cause: error });
	}
}

let program: Promise<string> | undefined;

/** The program in one file that every account can read; made once for each test file. */
function sandboxProgram(): Promise<string> {
	program ??= bundle();
	return program;
}

async function bundle(): Promise<string> {
	const directory = mkdtempSync(join(tmpdir(), 'dropcloth-program-'));
	process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
	await build({
		configFile: false,
		logLevel: 'error',
		root: PROJECT,
		build: {
			ssr: join(PROJECT, 'test/support/sandbox-program.ts'),
			outDir: directory,
			emptyOutDir: false,
			target: 'node20',
			minify: false,
			rollupOptions: { output: { entryFileNames: 'program.mjs' } },
		},
	});
	chmodSync(directory, 0o755);
	return join(directory, 'program.mjs');
}
