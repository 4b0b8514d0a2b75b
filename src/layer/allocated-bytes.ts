import { errorCode } from '../base/posix-error.ts';
import { statIn, statOf } from '../host/host-stat.ts';
import { nameOfRaw } from './scan-memory.ts';
import { UpperCursor } from './upper-cursor.ts';
import { listRawNames } from './upper-listing.ts';

/**
 * Bytes of disk that an upper directory takes: blocks, so that a file with holes counts for what it fills, and each inode
 * once. Whatever is in it counts, be it kept in snapshots or not, and directories that lock out their owner too. It may be
 * in use meanwhile. Null when it was moved around so that there is no way back up: to be tried again. Throws PosixError.
 */
export function allocatedBytes(upperPath: string): number | null {
	const cursor = UpperCursor.open(upperPath);
	try {
		return walk(cursor);
	} catch (error) {
		if (errorCode(error) === 'ENOENT') return null;
		throw error;
	} finally {
		cursor.close();
	}
}

function walk(cursor: UpperCursor): number {
	const linked = new Set<bigint>();
	let bytes = statOf(cursor.fd).allocatedBytes;
	/** Of each directory on the way down, the directories in it that are still to be visited. */
	const pending: string[][] = [];
	const look = () => {
		const directories: string[] = [];
		for (const raw of listRawNames(cursor.fd, cursor.path)) {
			const name = nameOfRaw(raw);
			const stat = statIn(cursor.fd, name);
			if (stat === null) continue;
			if (stat.kind === 'directory') directories.push(name);
			else if (stat.nlink > 1) {
				if (linked.has(stat.ino)) continue;
				linked.add(stat.ino);
			}
			bytes += stat.allocatedBytes;
		}
		pending.push(directories);
	};
	look();
	for (let here = pending.at(-1); here !== undefined; here = pending.at(-1)) {
		const name = here.pop();
		if (name !== undefined) {
			if (cursor.enter(name)) look();
			continue;
		}
		pending.pop();
		if (pending.length > 0) cursor.leave();
	}
	return bytes;
}
