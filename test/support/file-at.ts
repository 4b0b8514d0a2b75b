import { Session } from '../../src/session/session.ts';
import { placeInStore } from '../../src/session/session-place.ts';
import { readContent } from '../../src/vfs/read-content.ts';
import type { Dropcloth } from './built-program.ts';

/** What a file of the project `project` holds at a snapshot, read from the stored session; null when it is not in the layer. */
export function fileAt({ storePath }: Dropcloth, snapshot: number | 'now', path: string): Buffer | null {
	const session = Session.openToRead(placeInStore(storePath, 'project'));
	try {
		const view = session.store.tree.at(snapshot);
		const ino = view.resolve(session.project.ino, path);
		return ino === null || ino === 0 ? null : readContent(view.content(ino));
	} finally {
		session.close();
	}
}
