import { setIdentity } from './identity-plan.ts';
import { enterGroup, type Limits, limitEach } from './limits.ts';
import { type Plan, PlanWriter } from './plan-writer.ts';
import type { SandboxUser } from './sandbox-spec.ts';

/** Another command for a sandbox that runs. */
export interface JoinSpec {
	/** Process id of the sandbox's PID 1, as seen from here. */
	readonly init: number;
	/** When that process started, as `processStart` has it: the id alone may come to mean another process. */
	readonly initStart: string;
	/** As the sandbox was made for. */
	readonly user: SandboxUser;
	/** As the sandbox has them. */
	readonly limits: Limits;
	/** Working directory of the command, inside. */
	readonly cwd: string;
	readonly command: readonly string[];
}

/**
 * The operations that run a command in the namespaces of a running sandbox, confined as the first command is. Only its
 * signals may leave its Landlock domain, or it could stop nothing that the first command has started. Pure. When the sandbox
 * has ended, the operation `join` fails with ESRCH.
 */
export function buildJoinPlan({ init, initStart, user, limits, cwd, command }: JoinSpec): Plan {
	const plan = new PlanWriter();
	enterGroup(plan, limits);
	plan.do('join', init, initStart);
	setIdentity(plan, user);
	plan.do('confine', 'seccomp,landlock-sockets');
	limitEach(plan, limits);
	plan.do('chdir', cwd);
	plan.do('exec', command.length, ...command);
	return { operations: plan.operations, mounts: [] };
}
