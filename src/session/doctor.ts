import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { isWithin } from '../base/paths.ts';
import { errorCode } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import { findParent, ownGroup } from '../sandbox/control-group.ts';
import { kernelFacts } from '../sandbox/kernel-facts.ts';
import type { Reason } from '../sandbox/launch-reason.ts';
import { probeKernelBackend } from '../sandbox/probe.ts';
import { type Finding, finding } from './finding.ts';
import { makeDurableDirectory } from './session-place.ts';
import { type EscapeRequest, tryEscapes } from './try-escapes.ts';

/** Where to look, and what a sandbox there is made of. */
export type DoctorRequest = EscapeRequest;

/** Below this much room in the store, a day's work may not fit. */
const LITTLE_ROOM_BYTES = 1024 ** 3;

/** Looks at all that a session needs of this machine, mounts a real sandbox to see, and tries to get out of it. */
export async function examineMachine(request: DoctorRequest): Promise<Finding[]> {
	makeDurableDirectory(request.storePath);
	return [
		...(await sandboxFindings(request)),
		userNamespaces(),
		seccomp(),
		landlock(),
		device('/dev/fuse', 'the FUSE backend of a later version'),
		program('fusermount3', 'FUSE mounts by an ordinary user in a later version'),
		cgroups(),
		room(request.storePath),
	];
}

async function sandboxFindings(request: DoctorRequest): Promise<Finding[]> {
	const { possible, reasons, notes } = await probeKernelBackend(request);
	const over = isWithin(request.storePath, request.basePath) ? '' : ` over ${request.basePath}`;
	const what = `a sandbox${over} with its layer in ${request.storePath} works`;
	const sandbox = possible
		? [finding('kernel-backend', true, true, what), ...(await escapeFindings(request))]
		: reasons.map((reason) => reasonFinding('kernel-backend', reason, true));
	return [...sandbox, ...notes.map((note) => reasonFinding(note.code, note, false))];
}

/** Where the probe's small sandbox can be made and this one, with its layer over home, cannot, neither could a run's. */
async function escapeFindings(request: DoctorRequest): Promise<Finding[]> {
	try {
		return await tryEscapes(request);
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		return [finding('escape-attempts', false, true, error.message, error.hint)];
	}
}

function reasonFinding(check: string, { why, remedy }: Reason, needed: boolean): Finding {
	return { check, ok: false, needed, detail: why, remedy };
}

function userNamespaces(): Finding {
	const { maxUserNamespaces, appArmorRestricts, cloneRestricted } = kernelFacts();
	const isRoot = process.geteuid?.() === 0;
	if (maxUserNamespaces === null)
		return finding(
			'user-namespaces',
			false,
			!isRoot,
			'the kernel has no user namespaces',
			'use a kernel built with CONFIG_USER_NS',
		);
	if (maxUserNamespaces === 0)
		return finding(
			'user-namespaces',
			false,
			!isRoot,
			'user.max_user_namespaces is 0',
			'sudo sysctl -w user.max_user_namespaces=15000',
		);
	if (cloneRestricted)
		return finding(
			'user-namespaces',
			false,
			!isRoot,
			'kernel.unprivileged_userns_clone is 0',
			'sudo sysctl -w kernel.unprivileged_userns_clone=1',
		);
	if (appArmorRestricts) {
		return finding(
			'user-namespaces',
			false,
			!isRoot,
			'AppArmor restricts user namespaces',
			'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
		);
	}
	return finding('user-namespaces', true, !isRoot, `up to ${maxUserNamespaces} may be made`);
}

function seccomp(): Finding {
	const has = /^Seccomp:/m.test(readFileSync('/proc/self/status', 'latin1'));
	return finding(
		'seccomp',
		has,
		true,
		has ? 'the kernel can filter system calls' : 'the kernel cannot filter system calls',
		'use a kernel built with CONFIG_SECCOMP_FILTER',
	);
}

/** Landlock's scopes, which keep signals and abstract sockets inside, came with Linux 6.12. */
function landlock(): Finding {
	const [major = 0, minor = 0] = kernelFacts()
		.release.split('.')
		.map((part) => Number.parseInt(part, 10));
	const isNew = major > 6 || (major === 6 && minor >= 12);
	const active = readOrEmpty('/sys/kernel/security/lsm').split(',').includes('landlock');
	if (isNew)
		return finding(
			'landlock',
			true,
			false,
			active
				? 'signals and abstract sockets stay inside'
				: 'the kernel is new enough; /sys/kernel/security does not tell whether it is on',
		);
	return finding(
		'landlock',
		false,
		false,
		`kernel ${kernelFacts().release} has no Landlock scopes: abstract sockets of the host can be reached`,
		'use Linux 6.12 or newer, or --net none',
	);
}

function device(path: string, what: string): Finding {
	try {
		accessSync(path, constants.R_OK | constants.W_OK);
		return finding('dev-fuse', true, false, `${path} can be opened`);
	} catch (error) {
		const missing = errorCode(error) === 'ENOENT';
		return finding(
			'dev-fuse',
			false,
			false,
			`${path} ${missing ? 'does not exist' : 'may not be opened'}: ${what}`,
			missing ? 'sudo modprobe fuse' : `sudo chmod 0666 ${path}`,
		);
	}
}

function program(name: string, what: string): Finding {
	const at = ['/usr/local/bin', '/usr/bin', '/bin']
		.map((directory) => join(directory, name))
		.find((path) => existsSync(path));
	return at === undefined
		? finding(name, false, false, `not installed: ${what}`, 'sudo apt-get install fuse3')
		: finding(name, true, false, at);
}

/** Without one, limits hold for each process. */
function cgroups(): Finding {
	const own = ownGroup();
	const parent = own === null ? null : findParent(own, ['memory', 'pids']);
	return finding(
		'cgroup-delegation',
		parent !== null,
		false,
		parent !== null
			? `memory and pids can be limited in ${parent}`
			: 'no control group with memory and pids is delegated to this user',
		'run in a systemd user session with Delegate=yes',
	);
}

function room(storePath: string): Finding {
	const { bavail, bsize } = statfsSync(storePath);
	const free = bavail * bsize;
	return finding(
		'disk',
		free >= LITTLE_ROOM_BYTES,
		false,
		`${Math.floor(free / 1024 ** 2)} MiB free at ${storePath}`,
		'make room, or choose another place with DROPCLOTH_HOME',
	);
}

function readOrEmpty(path: string): string {
	try {
		return readFileSync(path, 'latin1');
	} catch (error) {
		if (errorCode(error) === null) throw error;
		return '';
	}
}
