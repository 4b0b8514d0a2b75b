import { closeSync, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fsPath, isUtf8Name } from '../base/bytes.ts';

/** Longest path that fits into sockaddr_un (unix(7)) with its final NUL. */
const SOCKET_PATH_BYTES = 107;

/** A path by which a socket can be reached even when its own is too long or is no UTF-8; `release` ends its validity. */
export function shortSocketPath(path: string): { path: string; release(): void } {
	const fits = isUtf8Name(path) && Buffer.byteLength(path) <= SOCKET_PATH_BYTES;
	if (fits) return { path, release() {} };
	const directory = openSync(fsPath(dirname(path)), 'r');
	return { path: `/proc/self/fd/${directory}/${basename(path)}`, release: () => closeSync(directory) };
}
