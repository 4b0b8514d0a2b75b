import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { decodeName } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';

/** The regular files that a sandbox's processes have open, mapped or are executing. */
export interface OpenFiles {
	/** `device:inode`, as stat tells them. */
	readonly inodes: ReadonlySet<string>;
	/** Absolute paths, as they are seen inside, of what is mapped: maps name inodes that no stat gives. */
	readonly mapped: ReadonlySet<string>;
	/** False when a process would not be looked at, such as one that made itself undumpable. */
	readonly isComplete: boolean;
}

/**
 * Looks at everything in the sandbox of this first process, at the processes given, such as those that joined, and at all
 * their descendants, those in namespaces of their own too. They should stand still.
 */
export function openFiles(init: number, others: readonly number[]): OpenFiles {
	const inodes = new Set<string>();
	const mapped = new Set<string>();
	let isComplete = true;
	for (const pid of family(init, others)) {
		try {
			for (const name of ['exe', ...readdirSync(`/proc/${pid}/fd`).map((fd) => `fd/${fd}`)]) {
				addInode(`/proc/${pid}/${name}`, inodes);
			}
			addMapped(pid, mapped);
		} catch (error) {
			if (!isGone(error) && !isDenied(error)) throw error;
			isComplete &&= isGone(error);
		}
	}
	return { inodes, mapped, isComplete };
}

function family(init: number, others: readonly number[]): Set<number> {
	const namespace = pidNamespace(init);
	const children = new Map<number, number[]>();
	const found = new Set([init, ...others]);
	for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
		const parent = parentOf(pid);
		if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), pid]);
		if (namespace !== null && pidNamespace(pid) === namespace) found.add(pid);
	}
	// a set is walked to what is added meanwhile
	for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
	return found;
}

/** Null for a process that is gone, or that is not ours to look at. */
function pidNamespace(pid: number): string | null {
	try {
		return readlinkSync(`/proc/${pid}/ns/pid`);
	} catch (error) {
		if (isGone(error) || isDenied(error)) return null;
		throw error;
	}
}

/** The second field after the name, which may hold anything: proc_pid_stat(5). */
function parentOf(pid: number): number | null {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
		return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
	} catch (error) {
		if (isGone(error)) return null;
		throw error;
	}
}

/** A descriptor that was closed meanwhile, and what has no file behind it, is left out. */
function addInode(link: string, inodes: Set<string>): void {
	try {
		const stat = statSync(link, { bigint: true });
		if (stat.isFile()) inodes.add(`${stat.dev}:${stat.ino}`);
	} catch (error) {
		if (!isGone(error)) throw error;
	}
}

/** A line is `from-to mode offset device inode path`; newlines in the path are written as \012 (proc_pid_maps(5)). */
const MAPPED = /^[0-9a-f]+-[0-9a-f]+ \S+ [0-9a-f]+ \S+ [1-9]\d* +(\/.*)$/gm;

function addMapped(pid: number, paths: Set<string>): void {
	for (const [, path = ''] of readFileSync(`/proc/${pid}/maps`, 'latin1').matchAll(MAPPED)) {
		paths.add(decodeName(Buffer.from(path.replaceAll('\\012', '\n'), 'latin1')));
	}
}

function isGone(error: unknown): boolean {
	const code = errorCode(error);
	return code === 'ENOENT' || code === 'ESRCH';
}

function isDenied(error: unknown): boolean {
	const code = errorCode(error);
	return code === 'EACCES' || code === 'EPERM';
}
