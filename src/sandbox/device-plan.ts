import type { PlanWriter, Slot } from './plan-writer.ts';

/** Where the new device directory is. */
export const DEVICE_DIRECTORY = '/dev';
/** What is mounted over a directory or a file that must not be seen. */
export const EMPTY_DIRECTORY = `${DEVICE_DIRECTORY}/.empty`;
export const EMPTY_FILE = `${DEVICE_DIRECTORY}/.none`;

/** The host's devices that every program may use. */
export const SHOWN_DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);

/** A new /dev: a few of the host's devices, its own pseudo-terminals and shared memory. It is made read-only at the end. */
export function makeDevices(plan: PlanWriter, devices: ReadonlyMap<string, Slot>): void {
	plan.fresh(DEVICE_DIRECTORY, 'tmpfs', 'mode=0755,size=1m', 'nosuid', 'few devices, none of them a disk');
	for (const [path, slot] of devices) {
		plan.do('file', path, 0o444);
		plan.attach(slot, { path, source: path, kind: 'bind', reason: 'a device that every program may use' });
	}
	plan.do('mkdir', '/dev/pts', 0o755);
	plan.do('mkdir', '/dev/shm', 0o755);
	plan.do('mkdir', EMPTY_DIRECTORY, 0o555);
	plan.do('file', EMPTY_FILE, 0o444);
	for (const [target, path] of LINKS) plan.do('symlink', target, path);
	plan.fresh('/dev/pts', 'devpts', 'newinstance,ptmxmode=0666,mode=0620', 'nosuid,noexec', 'own pseudo-terminals');
	plan.fresh('/dev/shm', 'tmpfs', 'mode=1777', 'nosuid,nodev', 'private to this run');
}

const LINKS = [
	['pts/ptmx', '/dev/ptmx'],
	['/proc/self/fd', '/dev/fd'],
	['/proc/self/fd/0', '/dev/stdin'],
	['/proc/self/fd/1', '/dev/stdout'],
	['/proc/self/fd/2', '/dev/stderr'],
] as const;
