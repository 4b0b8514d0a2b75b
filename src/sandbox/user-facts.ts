import { readFileSync } from 'node:fs';
import type { SandboxUser } from './sandbox-spec.ts';

/** CAP_SYS_ADMIN in linux/capability.h. */
const CAP_SYS_ADMIN = 21n;

/**
 * Who we are and whether we may mount: decided by the effective capability, not by uid 0, which has none in a container.
 */
export function sandboxUser(): SandboxUser {
	const status = readFileSync('/proc/self/status', 'latin1');
	const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)\\s*(\\S*)`, 'm').exec(status);
	const capabilities = BigInt(`0x${field('CapEff')?.[1] ?? '0'}`);
	const privileged = ((capabilities >> CAP_SYS_ADMIN) & 1n) === 1n;
	return {
		// The second number of each line is the effective one.
		uid: Number(field('Uid')?.[2]),
		gid: Number(field('Gid')?.[2]),
		privileged,
		uidMap: privileged ? sameIds('/proc/self/uid_map') : '',
		gidMap: privileged ? sameIds('/proc/self/gid_map') : '',
	};
}

/** Every id that we have ourselves, mapped to itself. */
function sameIds(path: string): string {
	const lines = readFileSync(path, 'latin1').trim().split('\n');
	return lines
		.map((line) => line.trim().split(/\s+/))
		.map(([inside, , count]) => `${inside} ${inside} ${count}`)
		.join('\n');
}
