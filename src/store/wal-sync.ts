import { closeSync, constants, fdatasyncSync, fstatSync, fsyncSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';

/**
 * Makes commits durable: fdatasync of the -wal, through the descriptor that SQLite itself has open.
 *
 * No file of the store is ever opened or closed here: closing any descriptor of a file drops every POSIX lock that the
 * process holds on it (fcntl(2), "Advisory record locking"), and with it SQLite's.
 */
export class WalSync {
	readonly #databasePath: string;
	readonly #walPath: string | Buffer;
	#descriptor = -1;

	constructor(databasePath: string) {
		this.#databasePath = databasePath;
		this.#walPath = fsPath(`${databasePath}-wal`);
	}

	/** Returns once every commit until now is on disk. Called with no transaction open. Throws PosixError's codes. */
	sync(): void {
		const wal = statSync(this.#walPath, { bigint: true, throwIfNoEntry: false });
		// An empty one was checkpointed, and a checkpoint syncs the database file.
		if (wal === undefined || wal.size === 0n) return;
		if (!isFile(this.#descriptor, wal)) {
			this.#descriptor = findDescriptor(wal);
			this.#syncDirectory();
		}
		fdatasyncSync(this.#descriptor);
	}

	/** The name of a new -wal must be on disk as well as its bytes. */
	#syncDirectory(): void {
		const directory = openSync(fsPath(dirname(this.#databasePath)), constants.O_RDONLY | constants.O_DIRECTORY);
		try {
			fsyncSync(directory);
		} finally {
			closeSync(directory);
		}
	}
}

interface FileIdentity {
	readonly dev: bigint;
	readonly ino: bigint;
}

function findDescriptor(file: FileIdentity): number {
	for (const name of readdirSync('/proc/self/fd')) {
		const descriptor = Number(name);
		if (isFile(descriptor, file)) return descriptor;
	}
	throw new Error('SQLite has no descriptor of its -wal open');
}

/** Checked each time: the connection that owned the descriptor may be gone and its number in use for something else. */
function isFile(descriptor: number, file: FileIdentity): boolean {
	if (descriptor < 0) return false;
	try {
		const stat = fstatSync(descriptor, { bigint: true });
		return stat.dev === file.dev && stat.ino === file.ino;
	} catch (error) {
		if (errorCode(error) === 'EBADF') return false;
		throw error;
	}
}
