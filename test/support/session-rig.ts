import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { placeInStore } from '../../src/session/session-place.ts';
import { checkIntegrity } from '../../src/store/integrity.ts';
import { Store } from '../../src/store/store.ts';
import type { Account } from './accounts.ts';
import { type Dropcloth, dropcloth } from './built-program.ts';

/** A project, a home and a store of one account, all in a directory of their own that is no /tmp: a sandbox hides that. */
export interface SessionRig extends Disposable {
	readonly account: Account;
	/** Holds all of it. */
	readonly place: string;
	readonly project: string;
	readonly cli: Dropcloth;
	/** Runs a shell script as the account on the host, in the project; it must end with 0. Its output. */
	sh(script: string): string;
	/** Runs a shell script in the session of the project; it must end with 0. Its output. */
	inside(script: string): string;
}

/** Makes one. `name` is the project's directory. */
export function sessionRig(account: Account, name = 'project'): SessionRig {
	mkdirSync(PLACES, { recursive: true });
	const place = mkdtempSync(join(PLACES, 'rig-'));
	chmodSync(place, 0o755);
	const home = join(place, 'home');
	const project = join(place, name);
	mkdirSync(home);
	mkdirSync(project);
	account.own(place);
	const env = { HOME: home };
	const atHome: Account = {
		...account,
		home,
		environment: (more) => account.environment({ ...env, ...more }),
		run: (command, options) => account.run(command, { ...options, env: { ...env, ...options?.env } }),
	};
	const cli = dropcloth(atHome, join(home, 'store'));
	const succeed = (args: readonly string[], ran: { code: number | null; stdout: string; stderr: string }) => {
		if (ran.code !== 0) throw new Error(`${args.join(' ')} ended with ${ran.code}: ${ran.stderr}${ran.stdout}`);
		return ran.stdout;
	};
	return {
		account,
		place,
		project,
		cli,
		sh: (script) => succeed([script], account.run(['sh', '-euc', script], { cwd: project, env })),
		inside(script) {
			const args = ['quick', project, '--', 'sh', '-euc', script];
			return succeed(args, cli.run(args, { cwd: project, env }));
		},
		[Symbol.dispose]() {
			// overlayfs leaves a directory without permissions, which its owner may not enter
			execFileSync('chmod', ['-R', 'u+rwX', place]);
			// not Node's own way: a path may be longer than a name that the kernel takes
			execFileSync('rm', ['-rf', place]);
		},
	};
}

const PLACES = '/var/lib/dropcloth-test';

/** A script that prints a line for everything below the current directory but `.git`: type, mode, size, time, target, content. */
export const TREE_SCRIPT = [
	"find . -mindepth 1 -path ./.git -prune -o -printf '%P|%y|%m|%T@|%l|' -a \\( -type f -printf '%s|' -exec sha256sum {} \\; -o -printf '\\n' \\) | LC_ALL=C sort",
	'getfattr -R -d -m user. . 2>/dev/null || true',
].join('; ');

/** What is wrong in the file of the project's session; empty when nothing is. */
export function integrityOf({ cli }: SessionRig): readonly string[] {
	const store = Store.open(placeInStore(cli.storePath, 'project').dbPath, 'reader');
	try {
		return checkIntegrity(store).checks.flatMap(({ messages, harmless }) => (harmless === true ? [] : messages));
	} finally {
		store.close();
	}
}
