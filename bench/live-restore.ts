import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { askDropcloth, callDropcloth, shellInside } from './harness/dropcloth.ts';
import { makeFiles } from './harness/make-files.ts';
import { benchPlace } from './harness/place.ts';

const FILES = 10_000;
const FILE_BYTES = 1_600;
const STATES = [1, 2] as const;

/** Restores of one of two states that differ in every file, while a shell runs inside that sees them. */
export async function liveRestore({ full }: BenchOptions): Promise<Figure[]> {
	using place = benchPlace();
	await using shell = shellInside(place);
	const snapshots: number[] = [];
	for (const seed of STATES) {
		await shell.run(makeFiles('.', { files: FILES, bytes: FILE_BYTES, seed }));
		snapshots.push(askDropcloth<{ id: number }>(place, ['snap']).answer.id);
	}
	const ours: number[] = [];
	for (let round = 0; round < (full ? 11 : 5); round++) {
		ours.push(callDropcloth(place, ['restore', 'project', String(snapshots[round % 2]), '--yes']).ms);
	}
	return [
		{
			name: 'live-restore/10k files',
			what: '`dropcloth restore` of a live session across 10,000 changed files, store and live layer',
			unit: 'ms',
			ours,
			theirs: null,
			against: null,
			goal: { kind: 'at most', value: 2000 },
		},
	];
}
