import { chmodSync, chownSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { encodeName, fsPath } from '../../src/base/bytes.ts';
import { processStart } from '../../src/host/process.ts';
import type { Account } from './accounts.ts';
import { type Launch, type LaunchOptions, startLaunch } from './launch.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** One operation of a plan: its name and operands. */
export type Operation = readonly (string | number)[];

/** What a test changes in the usual plan. */
export interface PlanParts {
	/** Before anything else. */
	readonly first?: readonly Operation[];
	/** While the host's view is whole and writable. */
	readonly outside?: readonly Operation[];
	/** When the host's view is read-only and /proc is new. */
	readonly inside?: readonly Operation[];
	/** The argument of `confine`; '' leaves it out. */
	readonly confine?: string;
	/** Freeze and thaw can be asked for; a number is the longest freeze in milliseconds. */
	readonly control?: boolean | number;
	readonly directory?: string;
}

/** What a test changes in the usual plan of a command that joins. */
export interface JoinParts {
	/** Before the entering. */
	readonly first?: readonly Operation[];
	/** When PID 1 started; asked of the kernel when left out. */
	readonly start?: string;
	/** Between the entering and the identity. */
	readonly inside?: readonly Operation[];
	readonly confine?: string;
	readonly directory?: string;
}

/** CAP_CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, NET_BIND_SERVICE and SETFCAP. */
const ROOT_CAPABILITIES = 0x800004fb;

/**
 * A place in which the launcher is run as one account: a project with an overlay over it, and raw plans. Dispose of it at
 * the end of the test.
 */
export class LaunchRig {
	readonly account: Account;
	readonly #place = temporaryDirectory();
	#started = 0;
	/** The overlay's lower layer and the place where it is attached, its upper layer, and the work directory. */
	readonly project: string;
	readonly upper: string;
	readonly work: string;

	constructor(account: Account) {
		this.account = account;
		this.#give(this.#place.path);
		this.project = this.directory('project');
		this.upper = this.directory('upper');
		this.work = this.directory('work');
	}

	/** An absolute path in the rig's directory. */
	path(name: string): string {
		return this.#place.join(name);
	}

	/** Makes a directory of the account, with its parents. */
	directory(name: string, mode = 0o755): string {
		const path = this.path(name);
		const made = mkdirSync(fsPath(path), { recursive: true });
		if (made !== undefined) for (let at = path; at !== this.#place.path; at = dirname(at)) this.#give(at);
		chmodSync(fsPath(path), mode);
		return path;
	}

	/** Writes a file of the account, with its parents. */
	file(name: string, content: string | Uint8Array, mode = 0o644): string {
		this.directory(dirname(name));
		const path = this.path(name);
		writeFileSync(fsPath(path), content);
		chmodSync(fsPath(path), mode);
		this.#give(path);
		return path;
	}

	/** The operations that run a command over the project. */
	plan(command: readonly string[], parts: PlanParts = {}): Operation[] {
		const { first = [], outside = [], inside = [], confine = 'seccomp,landlock', control = false } = parts;
		return [
			...first,
			...this.enter(),
			['overlay', 0, 'userxattr', this.upper, this.work, 'nosuid,nodev', 1, this.project],
			...outside,
			['setattr', '/', 'ro', 'rec'],
			['fs', 1, 'proc', '', 'nosuid,nodev,noexec'],
			['attach', 1, '/proc'],
			['attach', 0, this.project],
			...inside,
			...(control === false ? [] : [['control', control === true ? 60_000 : control]]),
			...this.identity(),
			...(confine === '' ? [] : [['confine', confine]]),
			['chdir', parts.directory ?? this.project],
			['exec', command.length, ...command],
		];
	}

	/** The operations that run a command in the sandbox of this PID 1. */
	joinPlan(init: number, command: readonly string[], parts: JoinParts = {}): Operation[] {
		const { start = processStart(init) ?? '0', confine = 'seccomp,landlock-sockets' } = parts;
		const { first = [], inside = [] } = parts;
		return [
			...first,
			['join', init, start],
			...inside,
			...this.identity(),
			...(confine === '' ? [] : [['confine', confine]]),
			['chdir', parts.directory ?? this.project],
			['exec', command.length, ...command],
		];
	}

	/** From the caller's namespaces to PID 1. */
	enter(more = ''): Operation[] {
		const { uid, gid } = this.account;
		const rootless = uid !== 0;
		return [
			['unshare', `${rootless ? 'user,' : ''}mount,pid,ipc,uts${more}`],
			...(rootless ? [['map', `0 ${uid} 1`, `0 ${gid} 1`]] : []),
			['init'],
			['private'],
		];
	}

	/** The command's own user namespace and capabilities. */
	identity(): Operation[] {
		const { uid, gid } = this.account;
		if (uid !== 0)
			return [
				['cmd-map', `${uid} 0 1`, `${gid} 0 1`],
				['caps', 0],
			];
		return [
			['cmd-map', ownMap('uid_map'), ownMap('gid_map')],
			['caps', ROOT_CAPABILITIES],
		];
	}

	/** Writes a plan into a file, for a caller other than this process. */
	planFile(operations: readonly Operation[], name = 'plan'): string {
		return this.file(name, encodePlan(operations));
	}

	/** Starts the launcher on a plan, or on bytes in its place. */
	start(plan: readonly Operation[] | Uint8Array, options: LaunchOptions = {}): Launch {
		// A name of its own: a launcher may still be reading the last one.
		const path = this.file(`plan-${this.#started++}`, plan instanceof Uint8Array ? plan : encodePlan(plan));
		const fd = openSync(path, 'r');
		try {
			return startLaunch(this.account, fd, options);
		} finally {
			closeSync(fd);
		}
	}

	[Symbol.dispose](): void {
		chmodSync(this.work, 0o755);
		this.#place[Symbol.dispose]();
	}

	#give(path: string): void {
		chownSync(fsPath(path), this.account.uid, this.account.gid);
	}
}

/** The bytes of a plan; words may hold any byte but NUL. */
export function encodePlan(operations: readonly Operation[]): Buffer {
	return encodeName(['plan 1', ...operations.flat()].map((word) => `${word}\0`).join(''));
}

/** The extents of this process's own map, inside as outside. */
function ownMap(file: string): string {
	const lines = readFileSync(`/proc/self/${file}`, 'latin1').trim().split('\n');
	return lines
		.map((line) => line.trim().split(/\s+/))
		.map(([first, , count]) => `${first} ${first} ${count}`)
		.join('\n');
}
