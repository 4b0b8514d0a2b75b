import { errnoCode } from '../base/errno.ts';
import type { Refusal } from '../base/refusal.ts';
import { readMounts } from '../host/mount-info.ts';
import { type BackendChoice, backendRefusal } from './backend.ts';
import { kernelFacts } from './kernel-facts.ts';
import { reasonOf } from './launch-reason.ts';
import type { Plan } from './plan-writer.ts';
import type { LaunchFailure } from './report.ts';

/** What is said of a launch that failed: one sentence and a remedy, from the step that failed and what this machine is. */
export function explainFailure(failure: LaunchFailure, plan: Plan, choice: BackendChoice = 'auto'): Refusal {
	const reason = reasonOf(failure, { plan, kernel: kernelFacts(), mounts: readMounts() });
	const step = plan.operations[failure.index] ?? [failure.operation];
	const details = { step, errno: errnoCode(failure.errno), kernelText: failure.kernelText };
	return backendRefusal(choice, reason, details);
}
