import { readFileSync } from 'node:fs';
import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { askDropcloth } from './harness/dropcloth.ts';
import { makeFiles } from './harness/make-files.ts';
import { benchPlace } from './harness/place.ts';
import { PROGRAM } from './harness/project.ts';
import { Shell } from './harness/shell.ts';

const FILES = 100_000;
const FILE_BYTES = 1_000;
/** Clock ticks a second in /proc (USER_HZ). */
const TICK_MS = 10;

/**
 * What watching costs while 100,000 files are written: processor time and memory of the owner with a watch, beside an owner
 * without one. No checkpoint falls into the work: what storing costs is measured elsewhere.
 */
export async function watcherCost({ full, note }: BenchOptions): Promise<Figure[]> {
	const share: number[] = [];
	const memory: number[] = [];
	for (let round = 0; round < (full ? 7 : 3); round++) {
		const watched = await work(['--quiet', '1h', '--checkpoint-interval', '2h']);
		const alone = await work(['--snapshots', 'exit']);
		share.push(((watched.cpuMs - alone.cpuMs) / watched.workMs) * 100);
		memory.push((watched.peakKiB - alone.peakKiB) / 1024);
		note(`round ${round + 1} done`);
	}
	const common = { theirs: null, against: null } as const;
	return [
		{
			...common,
			name: 'watcher-cost/processor',
			what: 'processor time that watching takes while 100,000 files are written, of the time of the work',
			unit: '%',
			ours: share,
			goal: { kind: 'at most', value: 2 },
		},
		{
			...common,
			name: 'watcher-cost/memory',
			what: 'memory that watching takes meanwhile, at most',
			unit: 'MiB',
			ours: memory,
			goal: { kind: 'at most', value: 60 },
		},
	];
}

async function work(flags: readonly string[]): Promise<{ workMs: number; cpuMs: number; peakKiB: number }> {
	using place = benchPlace();
	const command = [process.execPath, PROGRAM, 'quick', place.project, ...flags, '--', '/bin/sh'];
	await using shell = new Shell(command, { cwd: place.project, env: place.env });
	await shell.run('true');
	const owner = askDropcloth<{ pid: number }>(place, ['status']).answer.pid;
	const cpuBefore = cpuMs(owner);
	const began = performance.now();
	await shell.run(makeFiles('.', { files: FILES, bytes: FILE_BYTES, seed: 0 }));
	const workMs = performance.now() - began;
	return { workMs, cpuMs: cpuMs(owner) - cpuBefore, peakKiB: peakKiB(owner) };
}

/** User and system time of a process: the 14th and 15th field of proc_pid_stat(5). */
function cpuMs(pid: number): number {
	const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
	const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
	return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function peakKiB(pid: number): number {
	return Number(/^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
}
