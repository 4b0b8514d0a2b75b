import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { shellInside } from './harness/dropcloth.ts';
import { paired } from './harness/paired.ts';
import { benchPlace } from './harness/place.ts';
import { PROJECT } from './harness/project.ts';
import { hostShell } from './harness/shell.ts';

const COPIED = ['src', 'test/support', 'tsconfig.json', 'vitest.config.ts', 'package.json'];

const COMPILER = {
	extends: './tsconfig.json',
	include: ['src'],
	compilerOptions: { incremental: true, tsBuildInfoFile: 'built.json' },
};

/** This project's own compiler and tests at work on a copy of it, inside and outside in turn. */
export async function nodeWork({ full }: BenchOptions): Promise<Figure[]> {
	using place = benchPlace();
	const native = place.join('native');
	for (const directory of [place.project, native]) copyProject(directory);
	await using outside = hostShell({ cwd: native, env: place.env });
	await using inside = shellInside(place);
	const measure = (script: (round: number) => string) =>
		paired(
			full ? 11 : 5,
			(round) => inside.time(script(round)),
			(round) => outside.time(script(round)),
		);
	const tsc = `'${process.execPath}' node_modules/typescript/bin/tsc -p tsconfig.bench.json`;
	const vitest = `'${process.execPath}' node_modules/vitest/vitest.mjs run --silent --project unit src/history src/vfs`;
	const builds = await measure((round) => `echo '// edit ${round}' >>src/base/clock.ts; ${tsc}`);
	const tests = await measure(() => `${vitest} >vitest.log 2>&1 || { cat vitest.log; false; }`);
	const common = { unit: 'ms', against: 'the same on the host', goal: { kind: 'ratio', value: 1.05 } } as const;
	return [
		{ ...common, name: 'node-work/tsc', what: 'an incremental `tsc` of this project, one file edited', ...builds },
		{ ...common, name: 'node-work/tests', what: '`vitest run` over two folders of this project', ...tests },
	];
}

function copyProject(directory: string): void {
	mkdirSync(join(directory, 'node_modules'), { recursive: true });
	for (const name of COPIED) cpSync(join(PROJECT, name), join(directory, name), { recursive: true });
	// a directory of its own, in which programs keep their caches
	for (const name of packages())
		symlinkSync(join(PROJECT, 'node_modules', name), join(directory, 'node_modules', name));
	writeFileSync(join(directory, 'tsconfig.bench.json'), JSON.stringify(COMPILER));
}

function packages(): string[] {
	return readdirSync(join(PROJECT, 'node_modules')).filter((name) => !name.startsWith('.'));
}
