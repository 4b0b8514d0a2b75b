import { Session } from '../../src/session/session.ts';
import { placeInStore } from '../../src/session/session-place.ts';
import type { Snapshot } from '../../src/store/snapshots.ts';
import type { SessionRig } from './session-rig.ts';

/** The snapshots of the session `project`, of one trigger when that is given; the oldest first. */
export function snapshotsOf({ cli }: Pick<SessionRig, 'cli'>, ...triggers: Snapshot['trigger'][]): Snapshot[] {
	const session = Session.openToRead(placeInStore(cli.storePath, 'project'));
	try {
		const all = session.store.snapshots.list();
		return triggers.length === 0 ? all : all.filter(({ trigger }) => triggers.includes(trigger));
	} finally {
		session.close();
	}
}
