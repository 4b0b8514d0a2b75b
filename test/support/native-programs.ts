import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT } from './source-files.ts';

/** The launcher, freshly built from native/, where every account can run it. */
export function builtLauncher(): string {
	return made(`launch-${process.arch}`, (path) => {
		const directory = join(path, '..');
		run(process.execPath, [join(PROJECT, 'tools/build-native.mjs'), directory, process.arch]);
	});
}

/** A program of test/native/programs, compiled with the C library. */
export function testProgram(name: string): string {
	return made(name, (path) => {
		const source = join(PROJECT, 'test/native/programs', `${name}.c`);
		run(process.env['CC'] ?? 'cc', ['-O2', '-Wall', '-Wextra', '-Werror', '-pthread', '-o', path, source]);
	});
}

const paths = new Map<string, string>();
let directory: string | undefined;

/** Each is made once for each test file, and everything goes with its process. */
function made(name: string, make: (path: string) => void): string {
	const known = paths.get(name);
	if (known !== undefined) return known;
	const path = join(directoryOfPrograms(), name);
	make(path);
	paths.set(name, path);
	return path;
}

function directoryOfPrograms(): string {
	if (directory === undefined) {
		const path = mkdtempSync(join(tmpdir(), 'dropcloth-native-'));
		chmodSync(path, 0o755);
		process.once('exit', () => rmSync(path, { recursive: true, force: true }));
		directory = path;
	}
	return directory;
}

function run(program: string, args: readonly string[]): void {
	execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
