import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { compileProgram } from './harness/c-program.ts';
import { type Call, callDropcloth, callProgram } from './harness/dropcloth.ts';
import { benchPlace } from './harness/place.ts';

/** `dropcloth run` of a program that does nothing, in a session that is ready, against the start of Node alone. */
export function runTrue({ full }: BenchOptions): Figure[] {
	using place = benchPlace();
	compileProgram('print-time', place.project);
	const [first, all, node]: [number[], number[], number[]] = [[], [], []];
	const warmUps = 3;
	for (let round = -warmUps; round < (full ? 100 : 40); round++) {
		const ours = callDropcloth(place, ['run', '--', './print-time']);
		const theirs = callProgram(process.execPath, ['-e', '0'], place);
		if (round < 0) continue;
		first.push(untilFirstInstruction(ours));
		all.push(ours.ms);
		node.push(theirs.ms);
	}
	const common = { unit: 'ms', theirs: node, against: '`node -e 0`' } as const;
	return [
		{
			...common,
			name: 'run-true/first instruction',
			what: '`dropcloth run -- true`, to the command’s first instruction',
			ours: first,
			goal: { kind: 'extra', value: 15 },
		},
		{
			...common,
			name: 'run-true/return',
			what: '`dropcloth run -- true`, until it returns',
			ours: all,
			goal: { kind: 'extra', value: 40 },
		},
	];
}

/** The program prints the same clock that hrtime reads. */
function untilFirstInstruction({ stdout, beganNs }: Call): number {
	return Number(BigInt(stdout.trim()) - beganNs) / 1e6;
}
