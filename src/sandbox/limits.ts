import type { PlanWriter } from './plan-writer.ts';

/** What a command and all that it starts may use; null for as much as there is. */
export interface LimitRequest {
	readonly memoryBytes: number | null;
	readonly pids: number | null;
}

/** How that is held to. */
export interface Limits {
	/** A control group for all of it together, or null. */
	readonly cgroup: string | null;
	/** Limits of each process, as getrlimit(2) has them. */
	readonly each: { readonly data: number | null; readonly nproc: number | null };
}

export const NO_LIMITS: Limits = { cgroup: null, each: { data: null, nproc: null } };

/** To be done before anything else. */
export function enterGroup(plan: PlanWriter, { cgroup }: Limits): void {
	if (cgroup !== null) plan.do('cgroup', cgroup);
}

/** Soft and hard alike: what is inside cannot raise them again. */
export function limitEach(plan: PlanWriter, { each }: Limits): void {
	if (each.data !== null) plan.do('rlimit', 'data', each.data, each.data);
	if (each.nproc !== null) plan.do('rlimit', 'nproc', each.nproc, each.nproc);
}
