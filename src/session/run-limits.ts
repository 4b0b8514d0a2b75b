import { Refusal } from '../base/refusal.ts';
import { controllersOf, findParent, groupPath, makeGroup, ownGroup } from '../sandbox/control-group.ts';
import { type LimitRequest, type Limits, NO_LIMITS } from '../sandbox/limits.ts';

/** How what a run may use is held to. */
export interface RunLimits {
	readonly limits: Limits;
	/** What holds in place of what was asked for; null when that holds. */
	readonly instead: string | null;
	/** Makes what the limits need, just before the launch; disposed of when everything inside has ended. */
	make(): Disposable;
}

const NOTHING = { [Symbol.dispose]() {} };

/**
 * A control group where one is delegated, which limits all that runs inside together; otherwise limits of each process. Throws
 * Refusal 'sandbox' when nothing would hold at all.
 */
export function planLimits(request: LimitRequest, own = ownGroup()): RunLimits {
	const wanted = controllersOf(request);
	if (wanted.length === 0) return { limits: NO_LIMITS, instead: null, make: () => NOTHING };
	const parent = own === null ? null : findParent(own, wanted);
	if (parent !== null) {
		const path = groupPath(parent);
		return { limits: { ...NO_LIMITS, cgroup: path }, instead: null, make: () => makeGroup(path, request) };
	}
	const { memoryBytes, pids } = request;
	const why = `no control group with ${wanted.join(' and ')} is delegated to this user`;
	if (pids !== null && process.geteuid?.() === 0) {
		throw new Refusal(
			'sandbox',
			'no-pids-limit',
			`--pids ${pids}: ${why}, and the kernel limits root's processes by nothing else`,
			{
				hint: 'leave --pids out, run it as an ordinary user, or in a service with Delegate=yes',
			},
		);
	}
	const held = [
		...(memoryBytes === null ? [] : ['--memory holds for each process, not for all together']),
		...(pids === null ? [] : ['--pids holds for each command that is run or joins, not for all together']),
	];
	return {
		limits: { cgroup: null, each: { data: memoryBytes, nproc: pids } },
		instead: `${held.join('; ')}: ${why}`,
		make: () => NOTHING,
	};
}
