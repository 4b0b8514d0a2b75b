import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { errorCode } from '../base/posix-error.ts';

/** What decides whether this kernel lets us build a sandbox; read only to explain a failure, or by `doctor`. */
export interface KernelFacts {
	/** As in `uname -r`. */
	readonly release: string;
	/** user.max_user_namespaces; null when the kernel has no user namespaces. */
	readonly maxUserNamespaces: number | null;
	/** Ubuntu's kernel.apparmor_restrict_unprivileged_userns is 1. */
	readonly appArmorRestricts: boolean;
	/** Debian's kernel.unprivileged_userns_clone is 0. */
	readonly cloneRestricted: boolean;
	/** A seccomp filter is on this process already, as in a container. */
	readonly filtered: boolean;
	/** Filesystems the kernel has loaded, from /proc/filesystems; a module may add more. */
	readonly filesystems: readonly string[];
}

/** The facts of this machine. */
export function kernelFacts(): KernelFacts {
	const max = readSetting('/proc/sys/user/max_user_namespaces');
	return {
		release: release(),
		maxUserNamespaces: max === null ? null : Number(max),
		appArmorRestricts: readSetting('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1',
		cloneRestricted: readSetting('/proc/sys/kernel/unprivileged_userns_clone') === '0',
		filtered: /^Seccomp:\s*[12]$/m.test(readSetting('/proc/self/status') ?? ''),
		filesystems: (readSetting('/proc/filesystems') ?? '').split('\n').map((line) => line.replace(/^.*\t/, '')),
	};
}

function readSetting(path: string): string | null {
	try {
		return readFileSync(path, 'latin1').trim();
	} catch (error) {
		if (errorCode(error) === null) throw error;
		return null;
	}
}
