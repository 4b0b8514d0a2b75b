import { createReadStream, fstatSync } from 'node:fs';
import type { Launched, StandardStream } from '../sandbox/launch.ts';
import type { Notify } from './session.ts';

/**
 * How the command gets our standard input. A file is handed on through a pipe: its own descriptor could be opened again for
 * writing through /proc/self/fd/0, which would reach the host.
 */
export function standardInput(): StandardStream {
	return isFile() ? 'pipe' : 'inherit';
}

/**
 * Hands a file on when {@link standardInput} said so; the rest is read when the command asks for it. Of a file that cannot be read,
 * such as one that is open for writing only, the command sees the end where it fails, and `notify` is told why.
 */
export function feedStandardInput({ stdin }: Launched, notify: Notify): void {
	if (stdin === null) return;
	// a command that does not read to the end closes its side
	stdin.on('error', () => {});
	const file = createReadStream('', { fd: 0, autoClose: false });
	file.on('error', (error) => {
		notify(`standard input cannot be read: ${error.message}`);
		stdin.end();
	});
	file.pipe(stdin);
}

function isFile(): boolean {
	try {
		return fstatSync(0).isFile();
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'EBADF') return false;
		throw error;
	}
}
