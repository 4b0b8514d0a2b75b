import { lstatSync, readdirSync } from 'node:fs';
import { decodeName, fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';

/** How much of a tree is looked at: enough to find the usual leftovers of a `sudo make`, never long. */
const MOST_ENTRIES = 2_000;

/**
 * Files near the top of a tree that belong to somebody else. Without privileges they can be read in the sandbox but not
 * changed: their owner has no name in its user namespace, and the kernel answers EOVERFLOW.
 */
export function foreignOwners(root: string, uid: number): string[] {
	const foreign: string[] = [];
	const queue = [root];
	let seen = 0;
	for (let path = queue.shift(); path !== undefined && seen < MOST_ENTRIES; path = queue.shift()) {
		for (const name of namesIn(path)) {
			const child = `${path}/${name}`;
			const stat = lstatSync(fsPath(child), { throwIfNoEntry: false });
			if (stat === undefined || ++seen > MOST_ENTRIES) continue;
			if (stat.uid !== uid) foreign.push(child);
			else if (stat.isDirectory()) queue.push(child);
		}
	}
	return foreign;
}

function namesIn(path: string): string[] {
	try {
		return readdirSync(fsPath(path), { encoding: 'buffer' }).map(decodeName);
	} catch (error) {
		if (errorCode(error) === null) throw error;
		return [];
	}
}
