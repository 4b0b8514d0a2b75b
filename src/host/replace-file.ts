import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { errorCode, PosixError } from '../base/posix-error.ts';

/**
 * Puts a file, mode 0600, in the place of one of this name, whole or not at all. Not synced: for what can be done without
 * when it is lost. One writer at a time. Throws PosixError, the old file still there.
 */
export function replaceFile(path: string, content: string | Uint8Array): void {
	const temporary = `${path}.new`;
	try {
		writeFileSync(fsPath(temporary), content, { mode: 0o600 });
		renameSync(fsPath(temporary), fsPath(path));
	} catch (error) {
		rmSync(fsPath(temporary), { force: true });
		throw named(error, path);
	}
}

/** What fails at a descriptor does not know the file's name. */
function named(error: unknown, path: string): unknown {
	const code = errorCode(error);
	return code === null ? error : new PosixError(code, 'write', path, error);
}
