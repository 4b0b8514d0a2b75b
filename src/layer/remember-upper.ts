import { systemClock } from '../base/clock.ts';
import { statIn } from '../host/host-stat.ts';
import { type HostInode, withAttributes } from '../host/read-inode.ts';
import { oneTickBefore, TICK_MS } from './clock-tick.ts';
import type { ScanMemory } from './scan-memory.ts';
import { FLAG_REREAD, FLAGS, RECORD_WORDS } from './scan-record.ts';
import { UpperCursor } from './upper-cursor.ts';
import { walkUpper } from './upper-walk.ts';

/**
 * Remembers an upper directory in which we made changes ourselves, without reading any content. `isOurs` says which paths
 * they were; what else moved is kept to be read by the next scan. Null when that can't be: something that we did not
 * remove is gone. Waits for one tick of the clock, so that nothing of ours need be read again for its times.
 */
export function rememberUpper(
	upperPath: string,
	old: ScanMemory | null,
	isOurs: (path: string) => boolean,
	unversioned?: (path: string) => boolean,
): ScanMemory | null {
	waitForNextTick();
	const settledBefore = oneTickBefore(systemClock.now());
	const cursor = UpperCursor.open(upperPath);
	try {
		const options = { settledBefore, read: readBare, ...(unversioned === undefined ? {} : { unversioned }) };
		const { memory, touched, gone } = walkUpper(cursor, old, options);
		if (gone.some(({ path }) => !isOurs(path))) return null;
		for (const { index, path } of touched) if (!isOurs(path)) markToReread(memory, index);
		return memory;
	} finally {
		cursor.close();
	}
}

/** Only of a directory is anything remembered that statx does not say. */
function readBare(cursor: UpperCursor, name: string): HostInode | null {
	const stat = statIn(cursor.fd, name);
	return stat?.kind === 'directory' ? cursor.readInode(name) : stat && withAttributes(stat, null, false, NONE);
}

const NONE: ReadonlyMap<string, Buffer> = new Map();

function markToReread({ records }: ScanMemory, index: number): void {
	const at = index * RECORD_WORDS + FLAGS;
	records[at] = (records[at] as number) | FLAG_REREAD;
}

function waitForNextTick(): void {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TICK_MS + 2);
}
