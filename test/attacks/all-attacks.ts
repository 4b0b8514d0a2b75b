import type { Attack } from './attack.ts';
import { HIDDEN } from './hidden.ts';
import { HOST_FILES } from './host-files.ts';
import { MACHINE } from './machine.ts';
import { MOUNTS } from './mounts.ts';
import { PROCESSES } from './processes.ts';
import { SESSION_FILES } from './session-files.ts';
import { SOCKETS } from './sockets.ts';

/** Every attack that leaves the others their ground, by what it is against. They run in one sandbox, in this order. */
export const GROUPS: Readonly<Record<string, readonly Attack[]>> = {
	'hidden places': HIDDEN,
	mounts: MOUNTS,
	processes: PROCESSES,
	sockets: SOCKETS,
	'the machine': MACHINE,
	'the session': SESSION_FILES,
	'host files': HOST_FILES,
};
