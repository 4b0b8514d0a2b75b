import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { decodeName } from '../base/bytes.ts';
import { orGone, sandboxProcesses } from './sandbox-processes.ts';

/** Files that a sandbox's processes can change without a call that the kernel tells of, as absolute paths seen inside. */
export interface WritableFiles {
	/**
	 * Mapped shared and writable. What is stored through such a mapping changes a file's content and none of its times until
	 * its pages were written back once.
	 */
	readonly mapped: ReadonlySet<string>;
	/** Open for writing: they may have been mapped a moment ago. */
	readonly open: ReadonlySet<string>;
}

/** Looks for them. `open` costs a look at every descriptor, and stays empty where it is not asked for. */
export function writableFiles(init: number, withOpen: boolean): WritableFiles {
	const mapped = new Set<string>();
	const open = new Set<string>();
	for (const pid of sandboxProcesses(init)) {
		addMapped(pid, mapped);
		if (withOpen) addOpen(pid, open);
	}
	return { mapped, open };
}

/** A line is `from-to rw-s offset device inode path`; newlines in the path are written as \012 (proc_pid_maps(5)). */
const SHARED_WRITABLE = /^[0-9a-f]+-[0-9a-f]+ .w.s [0-9a-f]+ \S+ [1-9]\d* +(\/.*)$/gm;

function addMapped(pid: string, paths: Set<string>): void {
	const maps = orGone(() => readFileSync(`/proc/${pid}/maps`, 'latin1'));
	if (maps === null) return;
	for (const [, path = ''] of maps.matchAll(SHARED_WRITABLE)) {
		paths.add(decodeName(Buffer.from(path.replaceAll('\\012', '\n'), 'latin1')));
	}
}

/** The permissions of the link say how the file was opened. */
const OPEN_FOR_WRITING = 0o200;

function addOpen(pid: string, paths: Set<string>): void {
	for (const fd of orGone(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
		const link = `/proc/${pid}/fd/${fd}`;
		const target = orGone(() => readlinkSync(link, 'buffer'));
		if (target?.[0] !== SLASH || isDevice(target)) continue;
		const mode = orGone(() => lstatSync(link).mode) ?? 0;
		if ((mode & OPEN_FOR_WRITING) !== 0) paths.add(decodeName(target));
	}
}

const SLASH = 0x2f;

function isDevice(path: Buffer): boolean {
	return path.toString('latin1', 0, 5) === '/dev/';
}
