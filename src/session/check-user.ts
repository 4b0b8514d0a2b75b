import { closeSync, fstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fsPath } from '../base/bytes.ts';
import { Refusal } from '../base/refusal.ts';
import { openNamelessFile } from '../sandbox/nameless-file.ts';
import type { SessionPlace } from './session-place.ts';

/**
 * Makes sure that what this process would leave beside a session can be written by the user whose session it is: root could
 * work on it, and lock them out. Throws Refusal 'failed'.
 */
export function checkUser(place: SessionPlace): void {
	const { uid } = statSync(fsPath(place.dbPath));
	if (uid === process.geteuid?.() || uid === uidOfNewFile(dirname(place.dbPath))) return;
	throw new Refusal('failed', 'other-user', `session '${place.id}' belongs to the user of id ${uid}`, {
		hint: 'work on it as that user',
	});
}

/** A filesystem may give all files to one user, whoever makes them. */
function uidOfNewFile(directory: string): number {
	const fd = openNamelessFile(directory);
	try {
		return fstatSync(fd).uid;
	} finally {
		closeSync(fd);
	}
}
