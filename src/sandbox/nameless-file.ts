import { constants, openSync, unlinkSync } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';

/** O_TMPFILE without O_DIRECTORY (asm-generic/fcntl.h); the same on x86-64 and arm64. */
const TMPFILE = 0o20000000;

/** Opens a new file for reading and writing that has no name and is gone when nobody has it open any more. */
export function openNamelessFile(directory: string): number {
	const { O_RDWR, O_DIRECTORY, O_CREAT, O_EXCL } = constants;
	try {
		return openSync(fsPath(directory), O_RDWR | O_DIRECTORY | TMPFILE, 0o600);
	} catch (error) {
		if (!WITHOUT_TMPFILE.has(errorCode(error) ?? '')) throw error;
	}
	const path = `${directory}/.launch-${process.pid}-${process.hrtime.bigint()}`;
	const fd = openSync(fsPath(path), O_RDWR | O_CREAT | O_EXCL, 0o600);
	unlinkSync(fsPath(path));
	return fd;
}

const WITHOUT_TMPFILE = new Set(['EOPNOTSUPP', 'EISDIR', 'ENOENT', 'EINVAL']);
