import { spawnSync } from 'node:child_process';
import type { Place } from './place.ts';
import { PROGRAM } from './project.ts';
import { Shell } from './shell.ts';

/** One call of the built command line, to its end. */
export interface Call {
	readonly stdout: string;
	/** From before it was spawned until it was waited for. */
	readonly ms: number;
	/** CLOCK_MONOTONIC before it was spawned, in nanoseconds. */
	readonly beganNs: bigint;
}

/** Runs the built command line in the place's project; it must end with 0. */
export function callDropcloth(place: Place, args: readonly string[]): Call {
	return callProgram(process.execPath, [PROGRAM, ...args], place);
}

/** Runs it with `--json` and gives its answer beside the call. */
export function askDropcloth<Answer>(place: Place, args: readonly string[]): Call & { answer: Answer } {
	const call = callDropcloth(place, [...args, '--json']);
	return { ...call, answer: JSON.parse(call.stdout) as Answer };
}

/** Runs any program in the place's project; it must end with 0. */
export function callProgram(program: string, args: readonly string[], place: Place, cwd = place.project): Call {
	const beganNs = process.hrtime.bigint();
	const { status, stdout, stderr, error } = spawnSync(program, args, {
		cwd,
		env: place.env,
		encoding: 'utf8',
		maxBuffer: 2 ** 28,
	});
	const ms = Number(process.hrtime.bigint() - beganNs) / 1e6;
	if (status !== 0)
		throw new Error(`${[program, ...args].join(' ')} ended with ${status}: ${error ?? stderr + stdout}`);
	return { stdout, ms, beganNs };
}

/** A shell in the session of the place's project, which is live until it is disposed. */
export function shellInside(place: Place, cwd = place.project): Shell {
	return new Shell([process.execPath, PROGRAM, 'quick', place.project, '--', '/bin/sh'], { cwd, env: place.env });
}
