import { kill, pid } from 'node:process';

/**
 * A place where a test can let the process die: code that must survive a kill passes one before each thing it writes.
 * Costs a comparison while no crash is armed.
 */
export function crashPoint(name: string): void {
	if (remaining === null) return;
	remaining -= 1;
	passed.push(name);
	if (remaining <= 0) crash();
}

/**
 * Arms the crash: the `count`-th crash point from now ends the process with SIGKILL, or calls `die` instead. With null it
 * is disarmed. For tests only.
 */
export function armCrash(count: number | null, die: () => void = killSelf): void {
	remaining = count;
	crash = die;
	passed = [];
}

/** The names of the crash points passed since a crash was armed; armed with Infinity, a run is only counted. */
export function passedCrashPoints(): readonly string[] {
	return passed;
}

let remaining: number | null = null;
let crash: () => void = killSelf;
let passed: string[] = [];

function killSelf(): void {
	kill(pid, 'SIGKILL');
}
