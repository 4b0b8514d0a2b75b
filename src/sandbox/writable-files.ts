import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
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
	/** Mapped so, by a name that was taken away; they may have another. */
	readonly mappedUnnamed: readonly UnnamedFile[];
	/** Whether something is open for writing by a name that was taken away, and has another. */
	readonly hasOpenUnnamed: boolean;
}

/** A file by what is left to know it by. */
export interface UnnamedFile {
	/** The name that it had. */
	readonly path: string;
	/** As stat inside gives it: of the file in the upper directory, or of the one in the base that it was copied from. */
	readonly ino: bigint;
}

/** Looks for them. What is open costs a look at every descriptor, and is left out where it is not asked for. */
export function writableFiles(init: number, withOpen: boolean): WritableFiles {
	const mapped = new Set<string>();
	const open = new Set<string>();
	const mappedUnnamed: UnnamedFile[] = [];
	let hasOpenUnnamed = false;
	for (const pid of sandboxProcesses(init)) {
		addMapped(pid, mapped, mappedUnnamed);
		if (withOpen && addOpen(pid, open)) hasOpenUnnamed = true;
	}
	return { mapped, open, mappedUnnamed, hasOpenUnnamed };
}

/** A line is `from-to rw-s offset device inode path`; newlines in the path are written as \012 (proc_pid_maps(5)). */
const SHARED_WRITABLE = /^[0-9a-f]+-[0-9a-f]+ .w.s [0-9a-f]+ \S+ ([1-9]\d*) +(\/.*)$/gm;

/** What proc_pid_maps(5) and the links of descriptors add to a name that was taken away; a name may end so, too. */
const TAKEN_AWAY = ' (deleted)';

function addMapped(pid: string, paths: Set<string>, unnamed: UnnamedFile[]): void {
	const maps = orGone(() => readFileSync(`/proc/${pid}/maps`, 'latin1'));
	if (maps === null) return;
	for (const [, ino = '', raw = ''] of maps.matchAll(SHARED_WRITABLE)) {
		const path = decodeName(Buffer.from(raw.replaceAll('\\012', '\n'), 'latin1'));
		paths.add(path);
		if (path.endsWith(TAKEN_AWAY)) unnamed.push({ path: path.slice(0, -TAKEN_AWAY.length), ino: BigInt(ino) });
	}
}

/** The permissions of the link say how the file was opened. */
const OPEN_FOR_WRITING = 0o200;

/** Whether one of them is open by a name that was taken away, and has another. */
function addOpen(pid: string, paths: Set<string>): boolean {
	let hasUnnamed = false;
	for (const fd of orGone(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
		const link = `/proc/${pid}/fd/${fd}`;
		const target = orGone(() => readlinkSync(link, 'buffer'));
		if (target?.[0] !== SLASH || isDevice(target)) continue;
		const mode = orGone(() => lstatSync(link).mode) ?? 0;
		if ((mode & OPEN_FOR_WRITING) === 0) continue;
		const path = decodeName(target);
		paths.add(path);
		if (path.endsWith(TAKEN_AWAY) && (orGone(() => statSync(link).nlink) ?? 0) > 0) hasUnnamed = true;
	}
	return hasUnnamed;
}

const SLASH = 0x2f;

function isDevice(path: Buffer): boolean {
	return path.toString('latin1', 0, 5) === '/dev/';
}
