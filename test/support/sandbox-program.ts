import { readFileSync, writeFileSync } from 'node:fs';
import { Refusal } from '../../src/base/refusal.ts';
import { sandboxEnvironment } from '../../src/sandbox/environment.ts';
import { explainFailure } from '../../src/sandbox/explain.ts';
import { gatherSpec } from '../../src/sandbox/gather-spec.ts';
import { launch, type Outcome } from '../../src/sandbox/launch.ts';
import { makeLayerDirectories } from '../../src/sandbox/layer-directories.ts';
import { buildPlan } from '../../src/sandbox/plan.ts';
import type { PlannedMount } from '../../src/sandbox/plan-writer.ts';
import { type Probe, type ProbeRequest, probeKernelBackend } from '../../src/sandbox/probe.ts';
import type { SandboxRequest } from '../../src/sandbox/sandbox-request.ts';
import { forwardSignals } from '../../src/sandbox/signals.ts';

/** What the program is to do. */
export type Task =
	| { readonly run: SandboxRequest; readonly launcher: string; readonly scratch: string }
	| { readonly probe: ProbeRequest };

/** What came of it. */
export interface Result {
	readonly outcome?: Outcome;
	readonly mounts?: readonly PlannedMount[];
	readonly refusal?: {
		readonly kind: string;
		readonly code: string;
		readonly message: string;
		readonly hint: string | null;
	};
	readonly probe?: Probe;
}

/** Runs one sandbox or one probe as whoever calls it: `node PROGRAM TASK_FILE RESULT_FILE`. */
async function main(taskFile: string, resultFile: string): Promise<void> {
	const task = JSON.parse(readFileSync(taskFile, 'utf8')) as Task;
	const result = await perform(task).catch((error: unknown): Result => {
		if (!(error instanceof Refusal)) throw error;
		const { kind, code, message, hint } = error;
		return { refusal: { kind, code, message, hint } };
	});
	writeFileSync(resultFile, JSON.stringify(result));
	const { outcome } = result;
	process.exit(
		outcome?.kind === 'exited' || outcome?.kind === 'not-executed' ? outcome.code : outcome === undefined ? 0 : 99,
	);
}

async function perform(task: Task): Promise<Result> {
	if ('probe' in task) return { probe: await probeKernelBackend(task.probe) };
	const spec = gatherSpec(task.run);
	makeLayerDirectories(spec);
	const plan = buildPlan(spec);
	const environment = sandboxEnvironment({
		outer: process.env,
		set: {},
		pass: [],
		clear: false,
		network: spec.network,
		sessionId: spec.sessionId,
		backend: 'kernel',
		socketPath: null,
		cwd: spec.cwd,
		covers: spec.host.covers,
	});
	const launched = launch({ launcher: task.launcher, plan, environment, scratch: task.scratch });
	const forwarding = forwardSignals(launched, false);
	const outcome = await launched.ended;
	forwarding[Symbol.dispose]();
	if (outcome.kind === 'failed') throw explainFailure(outcome.failure, plan);
	return { outcome, mounts: plan.mounts };
}

await main(process.argv[2] ?? '', process.argv[3] ?? '');
