import { realpathSync, statSync } from 'node:fs';
import { decodeName, fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';

/** A path without symlinks and whether it is a directory; null when there is nothing or it cannot be reached. */
export function realPath(path: string): { readonly path: string; readonly directory: boolean } | null {
	try {
		// Asked first, because an exception for each place that is not there would be most of the time of a start.
		const stat = statSync(fsPath(path), { throwIfNoEntry: false });
		if (stat === undefined) return null;
		return { path: decodeName(realpathSync.native(fsPath(path), 'buffer')), directory: stat.isDirectory() };
	} catch (error) {
		if (UNREACHABLE.has(errorCode(error) ?? '')) return null;
		throw error;
	}
}

/** The same for a path whose last parts need not exist: they are kept as they are. */
export function realPathOfNew(path: string): string {
	const real = realPath(path);
	if (real !== null) return real.path;
	const slash = path.lastIndexOf('/');
	const parent = slash <= 0 ? '/' : realPathOfNew(path.slice(0, slash));
	return `${parent === '/' ? '' : parent}${path.slice(slash)}`;
}

const UNREACHABLE = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG']);
