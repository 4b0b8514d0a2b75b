import { readFileSync, writeFileSync } from 'node:fs';
import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { askDropcloth, shellInside } from './harness/dropcloth.ts';
import { benchPlace } from './harness/place.ts';

const SIZE_BYTES = 2 ** 31;

/** By how much the owner of a session grows while it takes in a large file that never repeats. */
export async function ingestMemory({ note }: BenchOptions): Promise<Figure[]> {
	using place = benchPlace();
	await using shell = shellInside(place);
	await shell.run('echo small >small');
	askDropcloth(place, ['snap']);
	await shell.run(`head -c ${SIZE_BYTES} /dev/urandom >large`);
	note('the file is written');
	// clear_refs, 5: the highest resident size is counted anew; see proc_pid_clear_refs(5)
	writeFileSync(`/proc/${shell.pid}/clear_refs`, '5');
	const idle = memoryMiB(shell.pid, 'VmRSS');
	const { ms } = askDropcloth(place, ['snap']);
	const highest = memoryMiB(shell.pid, 'VmHWM');
	note(`taken in within ${Math.round(ms)} ms`);
	return [
		{
			name: 'ingest-memory/2 GiB',
			what: 'what taking in a file of 2 GiB adds to the memory of the session’s owner',
			unit: 'MiB',
			ours: [highest - idle],
			theirs: null,
			against: null,
			goal: { kind: 'at most', value: 150 },
		},
	];
}

function memoryMiB(pid: number, field: 'VmRSS' | 'VmHWM'): number {
	const match = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
	if (match === null) throw new Error(`process ${pid} has no ${field}`);
	return Number(match[1]) / 1024;
}
