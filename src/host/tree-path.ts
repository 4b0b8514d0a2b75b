import { PosixError } from '../base/posix-error.ts';

/**
 * Checks that a path stays below its root: names joined by '/', none of them empty, '.' or '..', none with a NUL. Paths
 * come out of files that others may have made. Throws PosixError EINVAL.
 */
export function assertTreePath(path: string): void {
	if (path !== '' && (NO_NAME.test(path) || path.includes('\0'))) throw new PosixError('EINVAL', 'path', path);
}

const NO_NAME = /(?:^|\/)\.{0,2}(?:\/|$)/;
