import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { errorCode } from '../base/posix-error.ts';

/**
 * Continues every process that stands stopped in the pid namespace of `init`, a process id as seen from here, and gives
 * their ids: what an owner froze and did not live to thaw. Init comes last, so that it finds its children running. A
 * process that is gone by then, or that is not the caller's to look at or to signal, is left out.
 */
export function continueStopped(init: number): number[] {
	const namespace = pidNamespace(init);
	if (namespace === null) return [];
	const stopped = readdirSync('/proc')
		.map(Number)
		.filter((pid) => Number.isInteger(pid) && isStopped(pid) && pidNamespace(pid) === namespace);
	return stopped.sort((a, b) => Number(a === init) - Number(b === init)).filter(carryOn);
}

function pidNamespace(pid: number): string | null {
	return attempt(() => readlinkSync(`/proc/${pid}/ns/pid`));
}

/** By the first letter after the name, which may hold anything: proc_pid_stat(5). */
function isStopped(pid: number): boolean {
	const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
	return stat !== null && stat[stat.lastIndexOf(')') + 2] === 'T';
}

function carryOn(pid: number): boolean {
	return attempt(() => process.kill(pid, 'SIGCONT')) !== null;
}

/** Null for what the process's end, or another user's rights, keep from being done. */
function attempt<T>(what: () => T): T | null {
	try {
		return what();
	} catch (error) {
		if (GONE_OR_FOREIGN.has(errorCode(error) ?? '')) return null;
		throw error;
	}
}

const GONE_OR_FOREIGN = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);
