import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { shellInside } from './harness/dropcloth.ts';
import { makeFiles } from './harness/make-files.ts';
import { paired } from './harness/paired.ts';
import { benchPlace } from './harness/place.ts';
import { hostShell } from './harness/shell.ts';

const FILES = 6_000;

/** `git status` when everything is cached, inside and outside in turn. */
export async function gitStatus({ full }: BenchOptions): Promise<Figure[]> {
	using place = benchPlace();
	await using outside = hostShell({ cwd: place.project, env: place.env });
	const make = `${makeFiles('.', { files: FILES, bytes: 1000, seed: 0 })}; git init -q .; git add -A; git commit -qm all`;
	await outside.run(`${make}; mkdir ../native; cd ../native; ${make}`);
	await using inside = shellInside(place);
	const status = 'git status --short';
	const pairs = await paired(
		full ? 101 : 41,
		() => inside.time(status),
		() => outside.time(status),
		5,
	);
	return [
		{
			name: 'git-status/6k files',
			what: '`git status` of 6,000 files, warm',
			unit: 'ms',
			...pairs,
			against: 'the same on the host',
			goal: { kind: 'ratio', value: 1.3 },
		},
	];
}
