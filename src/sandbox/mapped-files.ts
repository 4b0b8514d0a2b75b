import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { decodeName } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';

/**
 * Absolute paths, as they are seen inside, of the files that a sandbox's processes have mapped shared and writable. What is
 * stored through such a mapping changes a file's content and none of its times until its pages were written back once.
 */
export function mappedFiles(init: number): Set<string> {
	const namespace = pidNamespace(String(init));
	const paths = new Set<string>();
	if (namespace === null) return paths;
	for (const pid of readdirSync('/proc')) {
		if (/^\d+$/.test(pid) && pidNamespace(pid) === namespace) addMapped(pid, paths);
	}
	return paths;
}

function pidNamespace(pid: string): string | null {
	return orNull(() => readlinkSync(`/proc/${pid}/ns/pid`));
}

/** A line is `from-to rw-s offset device inode path`; newlines in the path are written as \012 (proc_pid_maps(5)). */
const SHARED_WRITABLE = /^[0-9a-f]+-[0-9a-f]+ .w.s [0-9a-f]+ \S+ [1-9]\d* +(\/.*)$/gm;

function addMapped(pid: string, paths: Set<string>): void {
	const maps = orNull(() => readFileSync(`/proc/${pid}/maps`, 'latin1'));
	if (maps === null) return;
	for (const [, path = ''] of maps.matchAll(SHARED_WRITABLE)) {
		paths.add(decodeName(Buffer.from(path.replaceAll('\\012', '\n'), 'latin1')));
	}
}

/** A process that is gone, or that is not ours to look at, has nothing mapped that matters. */
function orNull<T>(read: () => T): T | null {
	try {
		return read();
	} catch (error) {
		if (GONE.has(errorCode(error) ?? '')) return null;
		throw error;
	}
}

const GONE = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);
