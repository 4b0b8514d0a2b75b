import { existsSync, lstatSync } from 'node:fs';
import type { Mount } from '../host/mount-info.ts';
import { SHOWN_DEVICES } from './device-plan.ts';
import { PROC_DIRECTORIES, PROC_FILES } from './proc-plan.ts';
import { COVERED_PLACES, type HostFacts } from './sandbox-spec.ts';

/** What the plan needs to know of this host. */
export function hostFacts(mounts: readonly Mount[]): HostFacts {
	return {
		covers: COVERED_PLACES.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true),
		devices: SHOWN_DEVICES.filter((path) => existsSync(path)),
		procDirectories: PROC_DIRECTORIES.filter((path) => existsSync(path)),
		procFiles: PROC_FILES.filter((path) => existsSync(path)),
		mountPoints: mounts.map(({ point }) => point),
	};
}
