import { ERRNO, type ErrnoCode, errnoCode } from '../base/errno.ts';
import { printable } from '../base/printable.ts';
import { type Mount, mountOf } from '../host/mount-info.ts';
import type { KernelFacts } from './kernel-facts.ts';
import type { Plan } from './plan-writer.ts';
import type { LaunchFailure } from './report.ts';
import { outermostMountsBelow } from './submounts.ts';

/** Why something cannot be, and what the user can do about it. */
export interface Reason {
	/** Stable and kebab-case, such as `no-user-namespaces`. */
	readonly code: string;
	/** One line. */
	readonly why: string;
	readonly remedy: string | null;
}

/** What a failure is explained from. */
export interface Situation {
	readonly plan: Plan;
	readonly kernel: KernelFacts;
	readonly mounts: readonly Mount[];
}

/** Why a launch failed, by the step that did. */
export function reasonOf(failure: LaunchFailure, situation: Situation): Reason {
	const explain = EXPLANATIONS[failure.operation];
	const code = errnoCode(failure.errno);
	return explain?.(failure, code, situation) ?? tooOld(code, situation.kernel) ?? unexplained(failure, code, situation);
}

type Explanation = (failure: LaunchFailure, code: ErrnoCode, situation: Situation) => Reason | null;

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
	spawn: ({ text }, code) => ({
		code: 'launcher-missing',
		why: code === 'EACCES' ? `the launcher may not be executed: ${text}` : `the launcher cannot be started: ${text}`,
		remedy: 'install dropcloth again, on a filesystem that is not mounted noexec',
	}),
	start: (_, code) =>
		directoryReason(code) ?? {
			code: 'launcher-refused',
			why: 'the launcher ended before it began',
			remedy: 'run `dropcloth doctor`',
		},
	lock: (_, code) =>
		code === 'EAGAIN' || code === 'EACCES'
			? { code: 'session-locked', why: 'another command owns the session', remedy: 'wait for it to end, or stop it' }
			: null,
	plan: ({ text }, code) =>
		directoryReason(code) ?? {
			code: 'bad-plan',
			why: `the launcher does not understand its plan: ${text}`,
			remedy: 'install dropcloth again',
		},
	cgroup: ({ text }, code) => ({
		code: 'no-control-group',
		why: `the control group cannot be used: ${text}: ${ERRNO[code][1]}`,
		remedy: 'use one of version 2 that is delegated to this user, with the caller in a group beside it',
	}),
	join: (_, code) =>
		code === 'ESRCH'
			? { code: 'sandbox-ended', why: 'the sandbox to join has just ended', remedy: 'run the command again' }
			: null,
	unshare: (_, code, { kernel }) => namespaceReason(code, kernel),
	map: ({ index }, code, { kernel, plan }) =>
		code === 'EPERM' && plan.operations[index]?.[1]?.startsWith('0 0 ') === true
			? {
					code: 'no-user-namespaces',
					why: 'root without CAP_SYS_ADMIN and CAP_SETFCAP cannot make a user namespace for itself (since Linux 5.12)',
					remedy: 'run as an ordinary user, or give the container one of the two capabilities',
				}
			: namespaceReason(code, kernel),
	// AppArmor lets a user namespace be made and then takes every right in it away.
	private: (_, code, { kernel }) => (code === 'EACCES' || code === 'EPERM' ? namespaceReason(code, kernel) : null),
	overlay: overlayReason,
	tree: pathReason,
	attach: pathReason,
	offer: pathReason,
	'bind-from': pathReason,
	mask: pathReason,
	mkdir: pathReason,
	file: pathReason,
	chdir: ({ text }, code) => placeReason(`the working directory ${text}`, code),
	// What the command's own process does is told under the operation that asked for it; making the process is `exec`.
	exec: (_, code, { kernel }) => namespaceReason(code, kernel),
	'cmd-map': (_, code, { kernel }) => namespaceReason(code, kernel),
	confine: ({ text }) =>
		text === 'seccomp'
			? {
					code: 'no-seccomp',
					why: 'this kernel has no seccomp filters',
					remedy: 'use a kernel with CONFIG_SECCOMP_FILTER',
				}
			: null,
	setattr: (_, code) =>
		code === 'EBUSY'
			? {
					code: 'host-busy',
					why: 'the host could not be made read-only for the run, because a file was just being opened for writing',
					remedy: 'try again',
				}
			: null,
	fs: ({ text }, code) =>
		text.includes('proc') && code === 'EPERM'
			? {
					code: 'no-proc',
					why: 'the kernel allows no new /proc here, because parts of the present one are covered',
					remedy: 'run outside of the container or sandbox, or as root',
				}
			: null,
};

function directoryReason(code: ErrnoCode): Reason | null {
	if (code !== 'EISDIR') return null;
	return {
		code: 'directory-as-stream',
		why: 'standard input, output or error is a directory, which would be a way out of the sandbox',
		remedy: 'redirect it from a file or from /dev/null',
	};
}

/** Why no user namespace, or none with any right in it, can be had. */
export function namespaceReason(code: ErrnoCode, kernel: KernelFacts): Reason | null {
	const reason = (why: string, remedy: string): Reason => ({ code: 'no-user-namespaces', why, remedy });
	if (code === 'ENOSPC' || kernel.maxUserNamespaces === 0) {
		if (kernel.maxUserNamespaces === 0)
			return reason(
				'user namespaces are switched off (user.max_user_namespaces = 0)',
				'as root: sysctl user.max_user_namespaces=15000',
			);
		return reason(
			`no more user namespaces can be made (user.max_user_namespaces = ${kernel.maxUserNamespaces}, or they are nested too deep)`,
			'as root: raise it with sysctl user.max_user_namespaces=15000',
		);
	}
	if (code === 'EINVAL' || kernel.maxUserNamespaces === null)
		return reason('this kernel has no user namespaces', 'run as root, or use a kernel with CONFIG_USER_NS');
	if (kernel.appArmorRestricts)
		return reason(
			'AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns = 1)',
			'as root: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or give the launcher a profile with `userns,`',
		);
	if (kernel.cloneRestricted)
		return reason(
			'user namespaces are for root only (kernel.unprivileged_userns_clone = 0)',
			'as root: sysctl kernel.unprivileged_userns_clone=1',
		);
	if (code !== 'EPERM' && code !== 'EACCES') return null;
	if (kernel.filtered)
		return reason(
			'a seccomp filter, most likely of a container, refuses namespaces',
			'start the container with --security-opt seccomp=unconfined, or run outside of it',
		);
	return reason(
		'the kernel refuses namespaces to this user',
		'run as root, or ask what restricts user namespaces here',
	);
}

function overlayReason(failure: LaunchFailure, code: ErrnoCode, situation: Situation): Reason | null {
	const { kernel, mounts, plan } = situation;
	const [, , , upper = '', , , , ...lowers] = plan.operations[failure.index] ?? [];
	const said = failure.kernelText === null ? '' : ` (the kernel says: ${failure.kernelText})`;
	const reason = (name: string, why: string, remedy: string): Reason => ({ code: name, why: why + said, remedy });
	if (code === 'ENODEV') return reason('no-overlayfs', 'this kernel has no overlayfs', 'as root: modprobe overlay');
	if (code === 'EPERM' && !kernel.filtered && isOlder(kernel.release, 5, 11))
		return reason(
			'old-kernel',
			`Linux ${kernel.release} mounts overlays for root only`,
			'use Linux 5.11 or newer, or run as root',
		);
	const place = pathReason(failure, code);
	if (place !== null && lowers.concat(upper).includes(failure.text)) return place;
	const below = lowers.flatMap((lower) =>
		outermostMountsBelow(
			lower,
			mounts.map(({ point }) => point),
		),
	)[0];
	if (code === 'EINVAL' && below !== undefined && plan.operations.some(([name]) => name === 'map'))
		return reason(
			'mount-below-base',
			`something is mounted at ${printable(below)}, below the base: the kernel refuses an overlay over it`,
			`unmount ${printable(below)}, or run as root`,
		);
	return storeReason(upper, mounts) ?? depthReason(failure, said);
}

function depthReason({ kernelText }: LaunchFailure, said: string): Reason | null {
	if (kernelText?.includes('stacking depth') !== true) return null;
	return {
		code: 'nested-too-deep',
		why: `overlays can be stacked two deep, and the base is on two already${said}`,
		remedy: 'run in the outer sandbox, or on a base that is not in one',
	};
}

/** Filesystems that cannot hold an upper directory: they lack rename flags, whiteouts or user extended attributes. */
const NO_UPPER =
	/^(overlay|nfs4?|cifs|smb3|9p|virtiofs|fuse(\..*)?|fuseblk|vfat|exfat|ntfs3?|ecryptfs|aufs|squashfs|iso9660|erofs)$/;

/** Why the store's filesystem cannot hold a layer, or null. */
export function storeReason(path: string, mounts: readonly Mount[]): Reason | null {
	const mount = mountOf(path, mounts);
	const readOnly = mount.options.includes('ro');
	if (!readOnly && !NO_UPPER.test(mount.type)) return null;
	return {
		code: 'store-unfit',
		why: `the store lies on ${readOnly ? 'a read-only mount' : mount.type} (${printable(mount.point)}), which cannot hold a live layer`,
		remedy: 'put it on a local filesystem such as ext4, xfs, btrfs or tmpfs with --store or DROPCLOTH_HOME',
	};
}

function pathReason({ text }: LaunchFailure, code: ErrnoCode): Reason | null {
	return text.startsWith('/') ? placeReason(text, code) : null;
}

function placeReason(place: string, code: ErrnoCode): Reason | null {
	const what = PATH_FAILURES[code];
	if (what === undefined) return null;
	return { code: 'place-changed', why: `${place} ${what}`, remedy: 'look at what became of it, and try again' };
}

const PATH_FAILURES: Partial<Record<ErrnoCode, string>> = {
	ENOENT: 'is not there any more',
	ENOTDIR: 'lies below something that is no directory any more',
	ELOOP: 'was replaced by a symlink',
	EACCES: 'cannot be reached by this user',
	EROFS: 'cannot be made on a read-only place',
};

function tooOld(code: ErrnoCode, { release }: KernelFacts): Reason | null {
	if (code !== 'ENOSYS') return null;
	const why = isOlder(release, 5, 12)
		? `Linux ${release} lacks the mount calls of 5.12`
		: 'something, most likely a container, hides the mount calls of Linux 5.12';
	return {
		code: 'old-kernel',
		why,
		remedy: 'use Linux 5.12 or newer, outside of a container that filters system calls',
	};
}

function unexplained({ operation, text, kernelText }: LaunchFailure, code: ErrnoCode, { plan }: Situation): Reason {
	const said = kernelText === null ? '' : `; the kernel says: ${kernelText}`;
	const step = text === '' ? operation : `${operation} ${text}`;
	return {
		code: 'launch-failed',
		why: `the sandbox could not be set up: ${step}: ${ERRNO[code][1]}${said}`,
		remedy: plan.operations.length > 0 ? 'run `dropcloth doctor`' : null,
	};
}

function isOlder(release: string, major: number, minor: number): boolean {
	const [a = 0, b = 0] = release.split('.').map((part) => Number.parseInt(part, 10));
	return a < major || (a === major && b < minor);
}
