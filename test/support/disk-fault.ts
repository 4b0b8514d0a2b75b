import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT } from './source-files.ts';

/** What a preloaded disk-fault does; see test/native/programs/disk-fault.c. */
export interface DiskFault {
	/** Text in the paths of what is counted. */
	readonly path: string;
	/** Which one fails, from 1; 0 only counts. */
	readonly at: number;
	/** Error number; 0 stops the process at that point. */
	readonly errno: number;
	/** File that gets the count. */
	readonly countFile?: string;
}

/** Compiles the library into a directory and gives its path. */
export function compileDiskFault(directory: string): string {
	const library = join(directory, 'disk-fault.so');
	const source = join(PROJECT, 'test/native/programs/disk-fault.c');
	const flags = ['-O2', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC'];
	execFileSync(process.env['CC'] ?? 'cc', [...flags, '-o', library, source, '-ldl']);
	return library;
}

/** The environment in which a program has the fault. */
export function faultEnvironment(library: string, { path, at, errno, countFile }: DiskFault): Record<string, string> {
	return {
		LD_PRELOAD: library,
		DISK_FAULT_PATH: path,
		DISK_FAULT_AT: String(at),
		DISK_FAULT_ERRNO: String(errno),
		...(countFile === undefined ? {} : { DISK_FAULT_COUNT: countFile }),
	};
}
