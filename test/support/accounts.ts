import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { chownSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** Who a test runs a command as. */
export interface Account {
	readonly name: string;
	readonly uid: number;
	readonly gid: number;
	readonly home: string;
	/** Runs a program as this user with {@link environment} and nothing else; never through a shell. */
	run(command: readonly string[], options?: RunOptions): Ran;
	/** What a fresh login of this user would have, and the values given. */
	environment(more?: Readonly<Record<string, string>>): Record<string, string>;
	/** Gives a path and everything below it to this user. */
	own(path: string): void;
}

export interface RunOptions {
	readonly cwd?: string;
	/** Added to the clean environment. */
	readonly env?: Readonly<Record<string, string>>;
	readonly input?: string;
	readonly timeoutMs?: number;
}

/** How a program ended. */
export interface Ran {
	readonly stdout: string;
	readonly stderr: string;
	/** Null when a signal ended it. */
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
}

const ORDINARY_USER = 'dropcloth-test';

/**
 * Everyone whom a behaviour has to be seen with: root and an ordinary user, or only the present user when that is not
 * root. For `describe.each(accounts())('$name', …)`.
 */
export function accounts(): Account[] {
	return userInfo().uid === 0 ? [presentAccount(), ordinaryAccount()] : [presentAccount()];
}

/** Whoever runs the tests. */
export function presentAccount(): Account {
	const { username, uid, gid, homedir } = userInfo();
	return account(username, uid, gid, homedir);
}

/** An ordinary user with a home: the present one, or as root the system user `dropcloth-test`, made when it is missing. */
export function ordinaryAccount(): Account {
	if (userInfo().uid !== 0) return presentAccount();
	const entry = passwordEntry() ?? makeUser();
	const [, , uid, gid, , home] = entry.split(':');
	const result = account(ORDINARY_USER, Number(uid), Number(gid), home as string);
	if (lstatSync(result.home, { throwIfNoEntry: false }) === undefined) {
		mkdirSync(result.home, { recursive: true, mode: 0o700 });
		chownSync(result.home, result.uid, result.gid);
	}
	return result;
}

function account(name: string, uid: number, gid: number, home: string): Account {
	const environment = (more: Readonly<Record<string, string>> = {}) => ({
		HOME: home,
		USER: name,
		LOGNAME: name,
		SHELL: '/bin/sh',
		LANG: 'C.UTF-8',
		PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
		...more,
	});
	return {
		name,
		uid,
		gid,
		home,
		environment,
		own: (path) => giveTo(path, uid, gid),
		run([program, ...args], { cwd = home, env, input = '', timeoutMs = 60_000 } = {}) {
			if (program === undefined) throw new Error('no program to run');
			const options = {
				cwd,
				env: environment(env),
				input,
				timeout: timeoutMs,
				encoding: 'utf8',
				maxBuffer: 2 ** 28,
			} as const;
			// setpriv drops the caller's other groups, which uid and gid of spawn would keep
			const drop = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups', '--', program, ...args];
			return ended(
				userInfo().uid === uid ? spawnSync(program, args, options) : spawnSync('setpriv', drop, options),
				program,
			);
		},
	};
}

function ended({ error, stdout, stderr, status, signal }: SpawnSyncReturns<string>, program: string): Ran {
	if (error !== undefined)
		throw new Error(`${program} could not be run to its end: ${error.message}`, { cause: error });
	return { stdout, stderr, code: status, signal };
}

function passwordEntry(): string | null {
	const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
	return lines.find((line) => line.startsWith(`${ORDINARY_USER}:`)) ?? null;
}

/** Several test files may start at once: whoever comes second finds the user made, or useradd's lock taken. */
function makeUser(): string {
	execFileSync('flock', [
		'/tmp/.dropcloth-test-user.lock',
		'sh',
		'-c',
		`id ${ORDINARY_USER} >/dev/null 2>&1 || useradd --create-home --shell /bin/sh ${ORDINARY_USER}`,
	]);
	const entry = passwordEntry();
	if (entry === null) throw new Error(`useradd ended well, but /etc/passwd has no ${ORDINARY_USER}`);
	return entry;
}

function giveTo(path: string, uid: number, gid: number): void {
	execFileSync('chown', ['-hR', `${uid}:${gid}`, '--', path]);
}
