import { isRunning } from '../host/process.ts';
import { keptLayers } from './layer-place.ts';
import { type OwnerFacts, readOwnerFile } from './owner-file.ts';
import { isOwned } from './owner-lock.ts';
import { wasLeftBehind } from './recover-stale.ts';
import { Session } from './session.ts';
import type { SessionPlace } from './session-place.ts';

/** `live`: a run goes on. `busy`: a short command works on it. `stale`: its owner was killed; the next command recovers it. */
export type SessionState = 'stopped' | 'live' | 'busy' | 'stale';

/** How a session is doing, seen without touching it. */
export interface SessionStatus {
	readonly sessionId: string;
	readonly dbPath: string;
	readonly state: SessionState;
	/** The owner that is at work, or that was killed. */
	readonly owner: OwnerFacts | null;
	readonly basePath: string | null;
	readonly generation: number;
	/** The snapshot that the present grew from, and the number of the next one. */
	readonly position: number;
	readonly head: number;
	/** Whether the present is in no snapshot yet. */
	readonly changed: boolean;
	/** Inodes and bytes of the layer, as far as they are taken in. */
	readonly layerFiles: number;
	readonly layerBytes: number;
	/** Layers that were set aside because the machine was restarted under them. */
	readonly keptLayers: readonly string[];
}

/** Looks at a session; takes no lock. Throws Refusal 'invalid' when its file cannot be used. */
export function sessionStatus(place: SessionPlace): SessionStatus {
	const { owner, state } = ownerAndState(place);
	const session = Session.openToRead(place);
	try {
		const { store, project } = session;
		return store.read(() => {
			const { position, head, changed, files, bytes } = store.head.values();
			return {
				sessionId: place.id,
				dbPath: place.dbPath,
				state,
				owner,
				basePath: project.basePath,
				generation: Number(store.config.get('generation') ?? 0),
				position,
				head,
				changed,
				layerFiles: files,
				layerBytes: bytes,
				keptLayers: keptLayers(place),
			};
		});
	} finally {
		session.close();
	}
}

/** An owner removes its file before it lets the lock go: only one that is there after was left behind. */
function ownerAndState(place: SessionPlace): { owner: OwnerFacts | null; state: SessionState } {
	const owner = readOwnerFile(place);
	if (!isOwned(place)) {
		return wasLeftBehind(place) ? { owner: readOwnerFile(place), state: 'stale' } : { owner: null, state: 'stopped' };
	}
	const isLive = owner?.pidStart != null && isRunning(owner.pid, owner.pidStart);
	return isLive ? { owner, state: 'live' } : { owner: null, state: 'busy' };
}
