import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { askDropcloth, callProgram, shellInside } from './harness/dropcloth.ts';
import { makeFiles } from './harness/make-files.ts';
import { benchPlace, type Place } from './harness/place.ts';
import type { Shell } from './harness/shell.ts';

const CHANGED = 100;
const FILE_BYTES = 1000;

/** Snapshots of a live session in which few of many files changed, by the whole command; git stash of the same beside it. */
export async function liveSnapshot(options: BenchOptions): Promise<Figure[]> {
	const small = await measure(10_000, true, options);
	const large = await measure(100_000, false, options);
	const what = (files: string) => `of a live session, ${CHANGED} of ${files} files changed`;
	const ofOurs = { unit: 'ms', theirs: null, against: null } as const;
	return [
		{
			name: 'live-snapshot/10k files',
			what: `\`dropcloth snap\` ${what('10,000')}`,
			unit: 'ms',
			ours: small.wall,
			theirs: small.stash,
			against: '`git stash` of the same changes',
			goal: { kind: 'at most', value: 66 },
		},
		{
			...ofOurs,
			name: 'live-snapshot/10k files frozen',
			what: `how long all stands still for it ${what('10,000')}`,
			ours: small.frozen,
			goal: { kind: 'at most', value: 40 },
		},
		{
			...ofOurs,
			name: 'live-snapshot/100k files frozen',
			what: `how long all stands still for it ${what('100,000')}`,
			ours: large.frozen,
			goal: { kind: 'at most', value: 150 },
		},
	];
}

interface Samples {
	readonly wall: number[];
	readonly frozen: number[];
	readonly stash: number[] | null;
}

async function measure(files: number, withGit: boolean, { full, note }: BenchOptions): Promise<Samples> {
	using place = benchPlace();
	const change = (seed: number) => makeFiles('.', { files, bytes: FILE_BYTES, seed, every: files / CHANGED });
	const all = makeFiles('.', { files, bytes: FILE_BYTES, seed: 0 });
	await using shell = shellInside(place);
	await shell.run(all);
	askDropcloth(place, ['snap']);
	const git = withGit ? place.join('git') : null;
	if (git !== null) run(place, git, `git init -q .; ${all}; git add -A; git commit -qm all`);
	const samples: Samples = { wall: [], frozen: [], stash: git === null ? null : [] };
	for (let round = 1; round <= (full ? 25 : 11); round++) {
		await takeOne(place, shell, change(round), samples);
		if (git !== null) samples.stash?.push(stash(place, git, change(round)));
	}
	note(`${files} files done`);
	return samples;
}

async function takeOne(place: Place, shell: Shell, change: string, samples: Samples): Promise<void> {
	await shell.run(change);
	const { ms, answer } = askDropcloth<{ frozenMs: number }>(place, ['snap']);
	samples.wall.push(ms);
	samples.frozen.push(answer.frozenMs);
}

function stash(place: Place, directory: string, change: string): number {
	run(place, directory, change);
	return run(place, directory, 'git stash -q');
}

function run(place: Place, directory: string, script: string): number {
	return callProgram('/bin/sh', ['-euc', `mkdir -p '${directory}'; cd '${directory}'; ${script}`], place).ms;
}
