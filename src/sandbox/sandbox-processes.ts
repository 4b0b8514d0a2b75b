import { readdirSync, readlinkSync } from 'node:fs';
import { errorCode } from '../base/posix-error.ts';

/**
 * The processes of a sandbox, given its PID 1: all of its namespace, those that joined it included, which are nobody's
 * children inside.
 */
export function sandboxProcesses(init: number): string[] {
	const namespace = pidNamespace(String(init));
	if (namespace === null) return [];
	return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && pidNamespace(pid) === namespace);
}

/** Which process namespace a process is in; null when it is gone, or not ours to look at. */
export function pidNamespace(pid: string): string | null {
	return orGone(() => readlinkSync(`/proc/${pid}/ns/pid`));
}

/** What is read of a process below /proc; null when it is gone, or not ours to look at. */
export function orGone<T>(read: () => T): T | null {
	try {
		return read();
	} catch (error) {
		if (GONE.has(errorCode(error) ?? '')) return null;
		throw error;
	}
}

const GONE = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);
