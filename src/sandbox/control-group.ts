import {
	accessSync,
	constants,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmdirSync,
	writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../base/posix-error.ts';
import { readMounts } from '../host/mount-info.ts';
import { isRunning, processStart } from '../host/process.ts';
import type { LimitRequest } from './limits.ts';

/** A controller of control groups, version 2, that we use. */
export type Controller = 'memory' | 'pids';

/** Where this process stands among the control groups of version 2. */
export interface OwnGroup {
	/** Where their hierarchy is mounted. */
	readonly root: string;
	/** The directory of this process's own group, at or below `root`. */
	readonly own: string;
}

/** Null where there is no hierarchy of version 2. */
export function ownGroup(): OwnGroup | null {
	const root = readMounts().find(({ type }) => type === 'cgroup2')?.point;
	const own = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
	return root === undefined || own === undefined ? null : { root, own: own === '/' ? root : join(root, own) };
}

/**
 * The directory in which a group with these controllers can be made and entered from the own group: the own group itself or
 * one above it, as far up as it is delegated to this user. Null when there is none.
 */
export function findParent({ root, own }: OwnGroup, wanted: readonly Controller[]): string | null {
	// to move a process one must be allowed to write the list of a group that holds both
	for (let at = own; mayWrite(at) && mayWrite(join(at, 'cgroup.procs')); at = dirname(at)) {
		const enabled = readFileSync(join(at, 'cgroup.subtree_control'), 'utf8').trim().split(' ');
		if (wanted.every((controller) => enabled.includes(controller))) return at;
		if (at === root) return null;
	}
	return null;
}

/** The controllers that a request needs. */
export function controllersOf({ memoryBytes, pids }: LimitRequest): Controller[] {
	return [...(memoryBytes === null ? [] : ['memory' as const]), ...(pids === null ? [] : ['pids' as const])];
}

/** The group of this process in a directory of {@link findParent}. Who made it can be told from its name. */
export function groupPath(parent: string): string {
	return join(parent, `dropcloth-${process.pid}-${processStart(process.pid)}`);
}

/**
 * Makes a group and limits it, and removes those beside it whose makers were killed. Disposed of when nothing is in it any
 * more; one whose last process is just ending is left to the next who makes one.
 */
export function makeGroup(path: string, { memoryBytes, pids }: LimitRequest): Disposable {
	removeLeft(dirname(path));
	if (!existsSync(path)) mkdirSync(path);
	if (memoryBytes !== null) {
		writeFileSync(join(path, 'memory.max'), String(memoryBytes));
		// there only where the kernel counts swap
		if (existsSync(join(path, 'memory.swap.max'))) writeFileSync(join(path, 'memory.swap.max'), '0');
	}
	if (pids !== null) writeFileSync(join(path, 'pids.max'), String(pids));
	return { [Symbol.dispose]: () => void isRemoved(path) };
}

const NAME = /^dropcloth-(\d+)-(\d+)$/;

function removeLeft(parent: string): void {
	for (const name of readdirSync(parent)) {
		const [, pid, start] = NAME.exec(name) ?? [];
		if (pid !== undefined && start !== undefined && !isRunning(Number(pid), start)) isRemoved(join(parent, name));
	}
}

const REMOVAL_TRIES = 20;
const REMOVAL_PAUSE_MS = 5;

/** A group stays in use for a moment after its last process has ended. */
function isRemoved(path: string): boolean {
	for (let tries = 0; tries < REMOVAL_TRIES; tries++) {
		try {
			rmdirSync(path);
			return true;
		} catch (error) {
			const code = errorCode(error);
			if (code === 'ENOENT') return true;
			// another user's, or in use
			if (code !== 'EBUSY') return false;
		}
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REMOVAL_PAUSE_MS);
	}
	return false;
}

function mayWrite(path: string): boolean {
	try {
		accessSync(path, constants.W_OK);
		return true;
	} catch (error) {
		if (errorCode(error) === null) throw error;
		return false;
	}
}
