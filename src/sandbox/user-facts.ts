import { readFileSync } from 'node:fs';
import type { SandboxUser } from './sandbox-spec.ts';

/**
 * Who we are and whether we may mount. Root is asked for its capability, because in a container it may have none; an ordinary
 * user is taken to have none, which spares the start a file to read.
 */
export function sandboxUser(): SandboxUser {
	const { geteuid, getegid } = process;
	if (geteuid === undefined || getegid === undefined) throw new Error('this platform has no user ids');
	const [uid, gid] = [geteuid.call(process), getegid.call(process)];
	const privileged = uid === 0 && mayMount(readFileSync('/proc/self/status', 'utf8'));
	return {
		uid,
		gid,
		privileged,
		uidMap: privileged ? sameIds(readFileSync('/proc/self/uid_map', 'utf8')) : '',
		gidMap: privileged ? sameIds(readFileSync('/proc/self/gid_map', 'utf8')) : '',
	};
}

/** CAP_SYS_ADMIN in linux/capability.h. */
const CAP_SYS_ADMIN = 21n;

/** Whether CAP_SYS_ADMIN is effective, from /proc/self/status. */
export function mayMount(status: string): boolean {
	const capabilities = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
	return ((capabilities >> CAP_SYS_ADMIN) & 1n) === 1n;
}

/** Every id that we have ourselves, mapped to itself; from a uid_map of `inside outside count` lines. */
export function sameIds(map: string): string {
	const lines = map.trim().split('\n');
	return lines
		.map((line) => line.trim().split(/\s+/))
		.map(([inside, , count]) => `${inside} ${inside} ${count}`)
		.join('\n');
}
