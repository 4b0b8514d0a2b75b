import { setTimeout as wait } from 'node:timers/promises';
import { launch } from '../src/sandbox/launch.ts';
import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { benchPlace } from './harness/place.ts';
import { LAUNCHER } from './harness/project.ts';
import { sandboxPlan } from './harness/sandbox-plan.ts';

const PROCESSES = 300;

/** Stops a sandbox with many processes, from the owner's request until it is told that nothing moves. */
export async function freeze({ full }: BenchOptions): Promise<Figure[]> {
	using place = benchPlace();
	const start = `i=1; while [ $i -lt ${PROCESSES} ]; do sleep 1000 & i=$((i+1)); done; echo ready; wait`;
	const launched = launch({
		launcher: LAUNCHER,
		plan: sandboxPlan(place, ['/bin/sh', '-c', start], true),
		environment: place.env,
		scratch: place.path,
		streams: ['ignore', 'pipe', 'inherit'],
		control: true,
	});
	await new Promise((resolve) => launched.stdout?.once('data', resolve));
	const ours: number[] = [];
	try {
		for (let round = 0; round < (full ? 60 : 30); round++) {
			const began = performance.now();
			const { processes } = await launched.freeze();
			ours.push(performance.now() - began);
			if (processes < PROCESSES) throw new Error(`${processes} processes were stopped, not ${PROCESSES}`);
			await launched.thaw();
			await wait(10);
		}
	} finally {
		launched.kill('SIGKILL');
		await launched.ended;
	}
	return [
		{
			name: `freeze/${PROCESSES} processes`,
			what: `stopping a sandbox of ${PROCESSES} processes`,
			unit: 'ms',
			ours,
			theirs: null,
			against: null,
			goal: { kind: 'at most', value: 15 },
		},
	];
}
