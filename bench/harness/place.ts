import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';

/** A project, a home and a store in a directory that goes at the end. Not in /tmp, which a sandbox hides. */
export interface Place extends Disposable {
	readonly path: string;
	readonly home: string;
	readonly project: string;
	readonly store: string;
	/** The environment of everything that a benchmark runs. */
	readonly env: Readonly<Record<string, string>>;
	join(...names: string[]): string;
	/** Writes a file, with its directories, and gives its absolute path. */
	write(name: string, content: string): string;
}

/** Makes one. */
export function benchPlace(): Place {
	const parent = join(userInfo().homedir, '.cache');
	mkdirSync(parent, { recursive: true });
	const path = mkdtempSync(join(parent, 'dropcloth-bench-'));
	const remove = () => removePlace(path);
	process.once('exit', remove);
	const [home, project, store] = [join(path, 'home'), join(path, 'project'), join(path, 'home/store')];
	mkdirSync(home);
	mkdirSync(project);
	// git would tidy up in the background, at any time and after the end
	writeFileSync(join(home, '.gitconfig'), '[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n');
	return {
		path,
		home,
		project,
		store,
		env: { ...plainEnvironment(), HOME: home, DROPCLOTH_HOME: store },
		join: (...names) => join(path, ...names),
		write(name, content) {
			const file = join(path, name);
			mkdirSync(dirname(file), { recursive: true });
			writeFileSync(file, content);
			return file;
		},
		[Symbol.dispose]() {
			process.off('exit', remove);
			remove();
		},
	};
}

/**
 * What a program needs and no more. Above all not NODE_EXTRA_CA_CERTS, which lets each start of Node take 30 ms more, and
 * nothing of the user's that changes what git does.
 */
function plainEnvironment(): Record<string, string> {
	const { username } = userInfo();
	return {
		PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
		USER: username,
		LOGNAME: username,
		SHELL: '/bin/sh',
		LC_ALL: 'C',
		GIT_CONFIG_NOSYSTEM: '1',
		GIT_TERMINAL_PROMPT: '0',
		GIT_AUTHOR_NAME: 'bench',
		GIT_AUTHOR_EMAIL: 'bench@localhost',
		GIT_COMMITTER_NAME: 'bench',
		GIT_COMMITTER_EMAIL: 'bench@localhost',
	};
}

/** overlayfs leaves a directory without permissions, which its owner may not enter. */
function removePlace(path: string): void {
	execFileSync('chmod', ['-R', 'u+rwX', path]);
	rmSync(path, { recursive: true, force: true });
}
