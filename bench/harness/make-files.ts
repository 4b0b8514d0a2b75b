import { join } from 'node:path';
import { PROJECT } from './project.ts';

/** What files to write. */
export interface FilesToMake {
	readonly files: number;
	readonly bytes: number;
	/** Other seeds, other contents. */
	readonly seed: number;
	/** Only each so many-th of them. */
	readonly every?: number;
}

/** A line of shell that writes files below a directory, a hundred to a directory; this repository can be read inside too. */
export function makeFiles(directory: string, { files, bytes, seed, every = 1 }: FilesToMake): string {
	const program = join(PROJECT, 'bench/programs/make-files.mjs');
	return `'${process.execPath}' '${program}' '${directory}' ${files} ${bytes} ${seed} ${every}`;
}
