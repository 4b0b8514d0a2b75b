import { Refusal } from '../base/refusal.ts';

/**
 * What a failure of the engine means to the user, with the file named: a Refusal, or the error itself when it is a bug of
 * ours (a constraint, a wrong statement).
 */
export function storeFailure(error: unknown, path: string): unknown {
	const code = (error as { code?: unknown } | null)?.code;
	if (typeof code !== 'string') return error;
	if (FULL_CODES.includes(code)) {
		return new Refusal('full', 'store-full', `no space left to write ${path}`, {
			hint: 'make room on that disk; nothing that was committed is lost',
			cause: error,
		});
	}
	if (code === 'SQLITE_NOTADB') {
		return new Refusal('invalid', 'store-not-a-database', `not a SQLite file, or the wrong key: ${path}`, {
			hint: 'name a session.db, with its key if it is encrypted',
			cause: error,
		});
	}
	if (code.startsWith('SQLITE_CORRUPT')) {
		return new Refusal('invalid', 'store-damaged', `damaged or truncated: ${path}`, {
			hint: 'restore it from a copy or an artifact',
			cause: error,
		});
	}
	if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED') || code === 'SQLITE_PROTOCOL') {
		return new Refusal('busy', 'store-busy', `another process is writing ${path}`, {
			hint: 'try again when it has ended',
			cause: error,
		});
	}
	if (code.startsWith('SQLITE_CANTOPEN') || code === 'SQLITE_AUTH' || code === 'SQLITE_PERM') {
		return new Refusal('invalid', 'store-unreadable', `cannot open ${path}`, {
			hint: 'check that it exists and that you may read and write it and its directory',
			cause: error,
		});
	}
	if (code.startsWith('SQLITE_READONLY')) {
		return new Refusal('failed', 'store-read-only', `may only be read: ${path}`, {
			hint: 'check the permissions of the file and its directory',
			cause: error,
		});
	}
	if (code.startsWith('SQLITE_IOERR') || code === 'EIO') {
		return new Refusal('failed', 'store-io', `reading or writing failed (${code}): ${path}`, {
			hint: 'check the disk and its quota',
			cause: error,
		});
	}
	return error;
}

/** Growing the -shm file without space has a code of its own, and files that are not SQLite's fail with the system's. */
const FULL_CODES: readonly string[] = ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'];
