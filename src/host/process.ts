import { readFileSync } from 'node:fs';
import { errorCode } from '../base/posix-error.ts';

/** The id that the kernel drew at boot: a file written under another one may not have reached the disk. */
export function bootId(): string {
	return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

/**
 * When a process started, in clock ticks since boot (field 22 of proc_pid_stat(5)); null when it is gone or a zombie.
 * With the pid it names one process for as long as the machine is up, since pids come around again.
 */
export function processStart(pid: number): string | null {
	const stat = readStat(pid);
	if (stat === null) return null;
	// The second field is the command in parentheses and may itself hold spaces and parentheses.
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	const [state, start] = [fields[STATE], fields[START]];
	if (state === undefined || start === undefined) throw new Error(`/proc/${pid}/stat is cut short: ${stat}`);
	return state === 'Z' || state === 'X' ? null : start;
}

/** Whether the very process that had this pid and this start still runs. */
export function isRunning(pid: number, start: string): boolean {
	return processStart(pid) === start;
}

/** Fields 3 and 22, counted from the one after the command. */
const STATE = 0;
const START = 19;

function readStat(pid: number): string | null {
	try {
		return readFileSync(`/proc/${pid}/stat`, 'latin1');
	} catch (error) {
		// ESRCH: it ended between open and read.
		const code = errorCode(error);
		if (code === 'ENOENT' || code === 'ESRCH') return null;
		throw error;
	}
}
