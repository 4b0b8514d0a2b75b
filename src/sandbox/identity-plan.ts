import type { PlanWriter } from './plan-writer.ts';
import type { SandboxUser } from './sandbox-spec.ts';

/**
 * Who the command is: a user namespace of its own with the ids it has outside, and what root keeps of its capabilities. For
 * every command in a sandbox.
 */
export function setIdentity(plan: PlanWriter, user: SandboxUser): void {
	if (user.privileged) {
		plan.do('cmd-map', user.uidMap, user.gidMap);
		plan.do(
			'caps',
			ROOT_CAPABILITIES.reduce((mask, bit) => mask + 2 ** bit, 0),
		);
	} else {
		plan.do('cmd-map', `${user.uid} 0 1`, `${user.gid} 0 1`);
		plan.do('caps', 0);
	}
}

/** chown, dac_override, fowner, fsetid, kill, setgid, setuid, net_bind_service, setfcap (linux/capability.h). */
const ROOT_CAPABILITIES = [0, 1, 3, 4, 5, 6, 7, 10, 31];
