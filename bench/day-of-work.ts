import { playDay } from '../test/support/day-of-work.ts';
import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { benchPlace } from './harness/place.ts';

const MIB = 2 ** 20;

/**
 * What a day of automatic checkpoints leaves of a layer of 2,000 files and 50 MB, thinned as it goes on. Compared with the
 * bytes of the layer and of the changed chunks that the present and the remaining snapshots hold, the same content once:
 * the least that any store of these states can take without compressing. Chunks that only thinned snapshots held are not
 * counted, so what thinning failed to remove counts against us.
 */
export function dayOfWork({ full }: BenchOptions): Figure[] {
	using place = benchPlace();
	const checkpoints = full ? 10_000 : 3_000;
	const size = { checkpoints, files: 2000, layerBytes: 50e6, hours: 24 };
	const day = playDay(place.join('session.db'), { ...size, thin: true, atLeast: 64 });
	const against = 'the bytes of the layer and of the changed chunks that are held';
	const after = `${checkpoints} checkpoints, thinned to ${day.snapshots}`;
	return [
		{
			name: 'day-of-work/file',
			what: `the session file after a day of ${after}`,
			unit: 'MiB',
			ours: [day.fileBytes / MIB],
			theirs: [day.heldBytes / MIB],
			against,
			goal: { kind: 'ratio', value: 1.2 },
		},
		{
			name: 'day-of-work/largest',
			what: 'the file and its -wal at their largest during that day',
			unit: 'MiB',
			ours: [day.largestBytes / MIB],
			theirs: [day.heldBytes / MIB],
			against,
			goal: { kind: 'ratio', value: 1.2 },
		},
		{
			name: 'day-of-work/thinning',
			what: 'one thinning of 64 checkpoints or more, all its steps',
			unit: 'ms',
			ours: day.thinningMs,
			theirs: null,
			against: null,
			goal: { kind: 'at most', value: 50 },
		},
		{
			name: 'day-of-work/slowest step',
			what: 'the slowest step of each thinning: for so long a checkpoint may have to wait',
			unit: 'ms',
			ours: day.slowestStepMs,
			theirs: null,
			against: null,
			goal: { kind: 'at most', value: 50 },
		},
	];
}
