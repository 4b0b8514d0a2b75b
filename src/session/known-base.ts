import { isRunning } from '../host/process.ts';
import { readOwnerFile } from './owner-file.ts';
import { peekReadyToken } from './ready-token.ts';
import type { SessionPlace } from './session-place.ts';

/**
 * The directory that a session lies over, null without one, as a ready layer or a run that goes on tells it: nobody else
 * moves it then. Undefined when only the session's file can say.
 */
export function knownBase(place: SessionPlace): string | null | undefined {
	const ready = peekReadyToken(place)?.roots.find(({ role }) => role === 'project');
	if (ready !== undefined) return ready.basePath;
	const owner = readOwnerFile(place);
	const isLive = owner?.pidStart != null && isRunning(owner.pid, owner.pidStart);
	return isLive ? owner.basePath : undefined;
}
