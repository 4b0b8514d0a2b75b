import { readdirSync, readFileSync } from 'node:fs';

/** A thread as /proc shows it. */
export interface Thread {
	readonly pid: number;
	readonly tid: number;
	/** R, S, D, T, t, Z or X: proc_pid_stat(5). */
	readonly state: string;
}

/** The process and all its descendants, each once, parents first. */
export function processTree(root: number): number[] {
	const children = new Map<number, number[]>();
	for (const name of readdirSync('/proc')) {
		const pid = Number(name);
		if (!Number.isInteger(pid)) continue;
		const parent = parentOf(pid);
		if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), pid]);
	}
	const found = [root];
	for (const pid of found) found.push(...(children.get(pid) ?? []));
	return found;
}

/** Every thread of the process. */
export function threadsOf(pid: number): Thread[] {
	const tids = attempt(() => readdirSync(`/proc/${pid}/task`)) ?? [];
	return tids.flatMap((tid) => {
		const state = fieldsAfterName(`/proc/${pid}/task/${tid}/stat`)?.[0];
		return state === undefined ? [] : [{ pid, tid: Number(tid), state }];
	});
}

/** The command's arguments, or [] for a process that is gone. */
export function argumentsOf(pid: number): string[] {
	return (attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '').split('\0').slice(0, -1);
}

function parentOf(pid: number): number | null {
	const parent = fieldsAfterName(`/proc/${pid}/stat`)?.[1];
	return parent === undefined ? null : Number(parent);
}

/** The fields behind the name, which may hold anything, parentheses too. */
function fieldsAfterName(path: string): string[] | null {
	const text = attempt(() => readFileSync(path, 'latin1'));
	return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Null when the process is gone. */
function attempt<T>(read: () => T): T | null {
	try {
		return read();
	} catch (error) {
		if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
		throw error;
	}
}
