import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, userInfo } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { PROJECT } from './project.ts';

/** Where and on what a benchmark ran. */
export interface Machine {
	readonly processor: string;
	readonly cores: number;
	readonly memoryGiB: number;
	readonly kernel: string;
	readonly node: string;
	/** statfs(2)'s f_type of the directory where the benchmarks work, in hex: ef53 is ext4, 9123683e btrfs, 58465342 XFS. */
	readonly filesystem: string;
	readonly user: string;
	readonly commit: string;
	/** Files that git knows differ from the commit. */
	readonly modified: boolean;
}

/** Facts about this machine and this source. */
export function machineFacts(workingDirectory: string): Machine {
	const git = (...args: string[]) => execFileSync('git', args, { cwd: PROJECT, encoding: 'utf8' }).trim();
	return {
		processor: cpus()[0]?.model.trim() ?? 'unknown',
		cores: cpus().length,
		memoryGiB: Math.round(totalmem() / 2 ** 30),
		kernel: release(),
		node: process.version,
		filesystem: statfsSync(workingDirectory).type.toString(16),
		user: userInfo().uid === 0 ? 'root' : 'an ordinary user',
		commit: git('rev-parse', 'HEAD'),
		modified: git('status', '--porcelain', '--untracked-files=no', '--', 'src', 'native', 'bench') !== '',
	};
}

/** What else the machine was doing. */
export interface Load {
	/** Load average of the last minute. */
	readonly average: number;
	/** Share of the processors' time that was used in the second before, while this process waited. */
	readonly busy: number;
}

/** More than this in use by others and the figures cannot be trusted. */
const QUIET_SHARE = 0.1;

/** Waits for a second and looks. */
export async function lookAtLoad(): Promise<Load> {
	const before = processorTime();
	await wait(1000);
	const after = processorTime();
	return { average: loadavg()[0] as number, busy: (after.busy - before.busy) / (after.all - before.all) };
}

/** Whether the machine did little else before and after. */
export function isQuiet(looks: readonly Load[]): boolean {
	return looks.every(({ busy }) => busy <= QUIET_SHARE);
}

function processorTime(): { busy: number; all: number } {
	const times = cpus().map(({ times: { user, nice, sys, irq, idle } }) => ({ busy: user + nice + sys + irq, idle }));
	const busy = times.reduce((sum, cpu) => sum + cpu.busy, 0);
	return { busy, all: times.reduce((sum, cpu) => sum + cpu.idle, busy) };
}
