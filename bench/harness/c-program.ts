import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT } from './project.ts';

/** Compiles a C program of bench/programs into a directory and gives its path. */
export function compileProgram(name: string, directory: string): string {
	const path = join(directory, name);
	const source = join(PROJECT, 'bench/programs', `${name}.c`);
	const args = ['-O2', '-Wall', '-Wextra', '-Werror', '-static', '-o', path, source];
	execFileSync(process.env['CC'] ?? 'cc', args, { stdio: ['ignore', 'ignore', 'inherit'] });
	return path;
}
