import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { askDropcloth, callDropcloth, callProgram } from './harness/dropcloth.ts';
import { makeFiles } from './harness/make-files.ts';
import { paired } from './harness/paired.ts';
import { benchPlace, type Place } from './harness/place.ts';

const FILES = 10_000;
const FILE_BYTES = 1_600;
const STATES = [1, 2] as const;

/** Restores of one of two states that differ in every file, in the store and in the live layer; git beside it. */
export async function restore({ full }: BenchOptions): Promise<Figure[]> {
	using place = benchPlace();
	const snapshots = STATES.map((seed) => snapshotOf(place, seed));
	const git = place.join('git');
	callProgram(
		'/bin/sh',
		['-euc', `mkdir '${git}'; cd '${git}'; git init -q .; ${STATES.map(commit).join('; ')}`],
		place,
	);
	const pairs = await paired(
		full ? 11 : 5,
		(round) => callDropcloth(place, ['restore', 'project', String(snapshots[round % 2]), '--yes']).ms,
		(round) => callProgram('git', ['-C', git, 'checkout', '-q', `state-${STATES[round % 2]}`], place).ms,
	);
	return [
		{
			name: 'restore/10k files',
			what: '`dropcloth restore` across 10,000 changed files, store and live layer',
			unit: 'ms',
			...pairs,
			against: '`git checkout` of another commit that differs as much',
			goal: { kind: 'at most', value: 2000 },
		},
	];
}

/** Number of the snapshot that the run which wrote the files has left. */
function snapshotOf(place: Place, seed: number): number {
	const script = makeFiles('.', { files: FILES, bytes: FILE_BYTES, seed });
	callDropcloth(place, ['run', '--', '/bin/sh', '-c', script]);
	const { snapshots } = askDropcloth<{ snapshots: { id: number }[] }>(place, ['list', 'project']).answer;
	return snapshots.at(-1)?.id ?? 0;
}

function commit(seed: number): string {
	const make = makeFiles('.', { files: FILES, bytes: FILE_BYTES, seed });
	return `${make}; git add -A; git commit -qm state; git tag state-${seed}`;
}
