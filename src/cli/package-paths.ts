import { accessSync, constants, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';

/** The packaged program: what must be visible inside a sandbox for `dropcloth` to work there. */
export const PACKAGE: string = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** What must be visible inside a sandbox: Node, the package, and the program as it was called, maybe through links. */
export const INSTALLED: readonly string[] = [process.execPath, PACKAGE, ...process.argv.slice(1, 2)];

/** Where the shell and `env` find Node, as the program's first line has it; null when they do not. */
export function nodeOnPath(env: Readonly<Record<string, string | undefined>>): string | null {
	const directories = (env['PATH'] ?? '').split(':').filter((directory) => directory.startsWith('/'));
	return directories.map((directory) => `${directory}/node`).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
	try {
		if (statSync(fsPath(path), { throwIfNoEntry: false })?.isFile() !== true) return false;
		accessSync(fsPath(path), constants.X_OK);
		return true;
	} catch (error) {
		if (errorCode(error) === null) throw error;
		return false;
	}
}

/** The launcher's binary for this machine. */
export const LAUNCHER = `${PACKAGE}/dist/native/launch-${process.arch}`;
