import { sandboxEnvironment } from '../sandbox/environment.ts';
import { buildJoinPlan } from '../sandbox/join-plan.ts';
import { type Launched, launch } from '../sandbox/launch.ts';
import { EarlyEnd } from './early-end.ts';
import { HeldLine } from './held-line.ts';
import type { JoinedEnd } from './join-terms.ts';
import { endOf } from './run-end.ts';
import type { RunOutcome, RunRequest } from './run-request.ts';
import { feedStandardInput, standardInput } from './standard-input.ts';

/**
 * Runs a command in the sandbox of a session that is live; null when none is, or not any more. Throws Refusal: 'usage' when
 * the sandbox is not as the flags want it, 'busy' when the owner stands still, 'sandbox' when there is no way in.
 */
export async function joinSession(request: RunRequest): Promise<RunOutcome | null> {
	const { target, sandbox, settings } = request;
	const line = await HeldLine.join(target.place, {
		verb: 'join',
		argv: sandbox.command,
		cwd: sandbox.cwd,
		uid: process.geteuid?.() ?? -1,
		pid: process.pid,
		base: target.create === null ? null : { path: target.create.basePath },
		settings,
	});
	if (line === null) return null;
	request.onJoin?.(line.answer.owner);
	let end: JoinedEnd = { exit: null, signal: null };
	try {
		const outcome = await runJoined(request, line);
		if (outcome !== null) end = endOf(outcome.outcome);
		return outcome;
	} finally {
		await line.farewell(end);
	}
}

async function runJoined(request: RunRequest, line: HeldLine): Promise<RunOutcome | null> {
	const { init, initStart, user, limits, cwd, environment, scratch, run } = line.answer;
	const plan = buildJoinPlan({ init, initStart, user, limits, cwd, command: request.sandbox.command });
	let launched: Launched | null = null;
	using _ = request.onLaunch?.({ kill: (signal) => launched?.kill(signal) });
	const joined = launch({
		launcher: request.launcher,
		plan,
		environment: sandboxEnvironment({ ...request.environment, ...environment, cwd }),
		scratch,
		streams: [standardInput(), 'inherit', 'inherit'],
	});
	launched = joined;
	using end = new EarlyEnd(joined, request.notify);
	end.afterTimeout(request.timeoutMs);
	line.onWord = ({ tell }) => joined.kill(tell);
	feedStandardInput(joined, request.notify);
	const outcome = await joined.ended;
	if (outcome.kind !== 'failed') {
		const trace = { run, snapshot: null, changed: null };
		return { outcome, trace, joined: true, endedFor: end.reason };
	}
	const { failure } = outcome;
	if (failure.operation === 'join' && failure.errno === ESRCH) return null;
	const { explainFailure } = await import('../sandbox/explain.ts');
	throw explainFailure(failure, plan, request.backend);
}

const ESRCH = 3;
