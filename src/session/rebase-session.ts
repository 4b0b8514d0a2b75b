import { refuseInterrupted } from '../apply/write-host.ts';
import type { OwnedSession } from './session.ts';

/**
 * Lays a session over another host directory, or over none. Throws Refusal 'failed' while an apply that was cut short waits:
 * its journal is of the directory that it wrote, and would be played back over the other.
 */
export function rebaseSession(session: OwnedSession, basePath: string | null): void {
	refuseInterrupted(session.store);
	session.setBase(basePath);
}
