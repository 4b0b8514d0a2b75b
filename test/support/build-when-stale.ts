import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const PROJECT = resolve(import.meta.dirname, '../..');
const INPUTS = ['src', 'native', 'tools/build-native.mjs', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];
/** What the last step of a build writes. */
const OUTPUT = 'dist/cli/main.js';

/** Vitest's global setup of the tests that run the built command line: builds when a source is newer than the build. */
export function setup(): void {
	const source = newestInput();
	if (source.mtimeMs <= builtAtMs()) return;
	console.log(`building: ${source.path} is newer than dist`);
	execFileSync('npm', ['run', '--silent', 'build'], { cwd: PROJECT, stdio: ['ignore', 'inherit', 'inherit'] });
}

interface Input {
	readonly path: string;
	readonly mtimeMs: number;
}

function newestInput(): Input {
	return INPUTS.flatMap(inputsBelow).reduce((a, b) => (a.mtimeMs >= b.mtimeMs ? a : b));
}

function inputsBelow(path: string): Input[] {
	const stat = lstatSync(join(PROJECT, path));
	const { mtimeMs } = stat;
	if (!stat.isDirectory()) return path.endsWith('.test.ts') ? [] : [{ path, mtimeMs }];
	// a directory's own time tells of files that were removed
	return [{ path, mtimeMs }, ...readdirSync(join(PROJECT, path)).flatMap((name) => inputsBelow(join(path, name)))];
}

/** When the last complete build ended, or 0. The mode change that ends a build sets the inode's ctime. */
function builtAtMs(): number {
	const output = lstatSync(join(PROJECT, OUTPUT), { throwIfNoEntry: false });
	return output === undefined || (output.mode & 0o100) === 0 ? 0 : output.ctimeMs;
}
