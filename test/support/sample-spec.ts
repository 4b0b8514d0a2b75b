import { NO_LIMITS } from '../../src/sandbox/limits.ts';
import { PROC_DIRECTORIES, PROC_FILES } from '../../src/sandbox/proc-plan.ts';
import type { SandboxRoot, SandboxSpec } from '../../src/sandbox/sandbox-spec.ts';

/** A tree of the session over a host directory, with its layer in /store. */
export function sampleRoot(role: SandboxRoot['role'], path: string, lowers: readonly string[] = [path]): SandboxRoot {
	return { role, path, lowers, upper: `/store/1/${role}/upper`, work: `/store/1/${role}/work` };
}

/** What most runs of an ordinary user ask for; parts of it replaced by `change`. */
export function sampleSpec(change: Partial<SandboxSpec> = {}): SandboxSpec {
	return {
		sessionId: 'sample',
		roots: [sampleRoot('project', '/home/me/project'), sampleRoot('home', '/home/me')],
		home: '/home/me',
		cwd: '/home/me/project',
		reads: 'home',
		masks: [],
		binds: [],
		links: [],
		channel: null,
		sockets: [],
		network: 'host',
		user: { uid: 1000, gid: 1000, privileged: false, uidMap: '', gidMap: '' },
		host: {
			covers: ['/tmp', '/var/tmp', '/run'],
			devices: ['/dev/null'],
			procDirectories: PROC_DIRECTORIES.slice(0, 1),
			procFiles: PROC_FILES.slice(0, 1),
			mountPoints: ['/', '/proc', '/sys', '/dev'],
		},
		homeTools: [],
		homeEntries: null,
		lock: null,
		control: false,
		limits: NO_LIMITS,
		command: ['true'],
		...change,
	};
}

/** Root with every capability. */
export const ROOT_USER: SandboxSpec['user'] = {
	uid: 0,
	gid: 0,
	privileged: true,
	uidMap: '0 0 4294967295',
	gidMap: '0 0 4294967295',
};
