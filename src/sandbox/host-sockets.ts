import { lstatSync, readFileSync } from 'node:fs';
import { decodeName, fsPath } from '../base/bytes.ts';
import { isWithin } from '../base/paths.ts';
import { errorCode } from '../base/posix-error.ts';
import type { Mount } from '../host/mount-info.ts';
import { realPath } from './real-path.ts';

/** What decides which sockets are looked for. */
export interface SocketRequest {
	/** Places that are private to a run: nothing in them is seen anyway. */
	readonly covers: readonly string[];
	readonly mounts: readonly Mount[];
	/** `--unmask`. */
	readonly unmask: readonly string[];
}

/**
 * Real paths of the Unix sockets that a program outside can be reached at: those the kernel lists for this network namespace,
 * and those that are mounted on their own, as containers get the daemon's. A socket that is bound later, or under a path that
 * was not absolute, is not among them.
 */
export function hostSockets({ covers, mounts, unmask }: SocketRequest): string[] {
	const places = [...covers, '/dev', '/proc', '/sys', ...NEEDED];
	const opened = unmask.flatMap((path) => realPath(path)?.path ?? []);
	const isSeen = (path: string) => ![...places, ...opened].some((place) => isWithin(path, place));
	const mounted = mounts.filter(({ type }) => LOCAL_TYPES.has(type)).map(({ point }) => point);
	const sockets = [...boundPaths(), ...mounted].filter((path) => isSeen(path) && isSocket(path));
	const real = sockets.flatMap((path) => realPath(path)?.path ?? []);
	return [...new Set(real)].filter(isSeen);
}

/** Only look-ups of users and groups by name; without it a user of a directory service has none. */
const NEEDED = ['/var/lib/sss/pipes'];

/** Asking for what is mounted from another machine may wait for it. */
const LOCAL_TYPES: ReadonlySet<string> = new Set(['tmpfs', 'ext4', 'xfs', 'btrfs', 'zfs', 'f2fs', 'overlay']);

/** `Num RefCount Protocol Flags Type St Inode Path`; an abstract one begins with `@`, most have none: proc_net(5). */
const LISTED = /^\S+: (?:\S+ +){6}(\/.*)$/gm;

function boundPaths(): string[] {
	const text = readOrEmpty('/proc/net/unix');
	return [...text.matchAll(LISTED)].flatMap(([, path]) => path ?? []);
}

function readOrEmpty(path: string): string {
	try {
		// see readMounts: text is faster, and names that are no text are rare
		const text = readFileSync(path, 'utf8');
		return text.includes('\ufffd') ? decodeName(readFileSync(path)) : text;
	} catch (error) {
		if (errorCode(error) === null) throw error;
		return '';
	}
}

function isSocket(path: string): boolean {
	try {
		return lstatSync(fsPath(path), { throwIfNoEntry: false })?.isSocket() === true;
	} catch (error) {
		if (errorCode(error) === null) throw error;
		return false;
	}
}
