import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { askDropcloth, shellInside } from './harness/dropcloth.ts';
import { makeFiles } from './harness/make-files.ts';
import { benchPlace } from './harness/place.ts';

const FILES = 10_000;
const FILE_BYTES = 1_600;

/** Snapshots of a live session in which nothing was and many files are. */
export async function newFilesSnapshot({ full }: BenchOptions): Promise<Figure[]> {
	using place = benchPlace();
	await using shell = shellInside(place);
	const [wall, frozen]: [number[], number[]] = [[], []];
	for (let round = 0; round < (full ? 11 : 5); round++) {
		await shell.run(makeFiles(`round-${round}`, { files: FILES, bytes: FILE_BYTES, seed: round }));
		const { ms, answer } = askDropcloth<{ files: number; frozenMs: number }>(place, ['snap']);
		if (answer.files < FILES) throw new Error(`a snapshot of ${answer.files} files`);
		wall.push(ms);
		frozen.push(answer.frozenMs);
		await shell.run(`rm -r round-${round}`);
		askDropcloth(place, ['snap']);
	}
	const common = { unit: 'ms', theirs: null, against: null } as const;
	return [
		{
			...common,
			name: 'new-files-snapshot/command',
			what: '`dropcloth snap` of a live session, 10,000 new files of 16 MB',
			ours: wall,
			goal: { kind: 'at most', value: 1000 },
		},
		{
			...common,
			name: 'new-files-snapshot/frozen',
			what: 'how long all stands still for it',
			ours: frozen,
			goal: { kind: 'at most', value: 80 },
		},
	];
}
