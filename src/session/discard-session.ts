import { renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fsPath } from '../base/bytes.ts';
import { removeTree } from './layer-place.ts';
import { lockOwner } from './owner-lock.ts';
import { type SessionPlace, syncDirectory } from './session-place.ts';

/**
 * Throws a session away: its file, its history, its layers. Works on a damaged one too. It first goes out of sight by one
 * rename, so that nothing is left half removed. Throws Refusal 'busy' when it is live.
 */
export async function discardSession(place: SessionPlace): Promise<void> {
	const { lock } = await lockOwner(place);
	try {
		if (place.ownDirectory === null) discardFile(place);
		else discardDirectory(place.ownDirectory);
	} finally {
		lock.close();
	}
}

function discardDirectory(directory: string): void {
	const doomed = join(dirname(directory), `.discarded-${process.pid}-${Date.now()}`);
	renameSync(fsPath(directory), fsPath(doomed));
	syncDirectory(dirname(directory));
	removeTree(doomed);
}

function discardFile(place: SessionPlace): void {
	for (const suffix of ['', '-wal', '-shm']) rmSync(fsPath(`${place.dbPath}${suffix}`), { force: true });
	removeTree(place.sidePath);
}
