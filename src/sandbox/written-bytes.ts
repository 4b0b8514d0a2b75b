import { readdirSync, readFileSync } from 'node:fs';
import { orGone, pidNamespace } from './sandbox-processes.ts';

/** For how long a process that is not of the sandbox is not looked at again: its number may be given to another. */
const FOREIGN_MS = 10_000;

/**
 * What a sandbox's processes have written to disks, by the kernel's count (write_bytes of proc_pid_io(5)): a sign of work
 * that no event tells of. Counts of processes that have ended are gone, so that only a difference means something.
 */
export class WrittenBytes {
	readonly #namespace: string | null;
	readonly #foreign = new Set<string>();
	#foreignUntilMs = 0;

	/** Of the sandbox whose PID 1 this is. */
	constructor(init: number) {
		this.#namespace = pidNamespace(String(init));
	}

	/** The count now. */
	read(): number {
		const nowMs = performance.now();
		if (nowMs >= this.#foreignUntilMs) {
			this.#foreign.clear();
			this.#foreignUntilMs = nowMs + FOREIGN_MS;
		}
		let bytes = 0;
		for (const name of readdirSync('/proc')) {
			if (!/^\d/.test(name) || this.#foreign.has(name)) continue;
			if (pidNamespace(name) === this.#namespace) bytes += writtenBy(name);
			else this.#foreign.add(name);
		}
		return bytes;
	}
}

function writtenBy(pid: string): number {
	const text = orGone(() => readFileSync(`/proc/${pid}/io`, 'latin1')) ?? '';
	return Number(/^write_bytes: (\d+)/m.exec(text)?.[1] ?? 0);
}
