import { existsSync } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { Refusal } from '../base/refusal.ts';
import type { RunOutcome, RunRequest } from './run-request.ts';
import { runSession } from './run-session.ts';

/** How long a session that is just ending is waited for. */
const PATIENCE_MS = 30_000;

/**
 * Runs a command in a session: in one of its own sandbox, or when another run of it is live in the sandbox of that. A run
 * that is about to end is waited for. Throws Refusal as `runSession` and `joinSession` do.
 */
export async function runOrJoin(request: RunRequest): Promise<RunOutcome> {
	const { target } = request;
	if (target.create?.mustBeNew === true) return await runSession(request);
	let wasLive = target.create === null && existsSync(fsPath(target.place.socketPath));
	for (const deadline = performance.now() + PATIENCE_MS; ; ) {
		if (wasLive) {
			const joined = await join(request);
			if (joined !== null) return joined;
		}
		try {
			return await runSession(request);
		} catch (error) {
			const isLive = error instanceof Refusal && error.code === 'session-live';
			const isBusy = error instanceof Refusal && error.code === 'session-busy';
			if (!(isLive || (isBusy && wasLive)) || performance.now() > deadline) throw error;
			wasLive = true;
		}
	}
}

async function join(request: RunRequest): Promise<RunOutcome | null> {
	const { joinSession } = await import('./join-session.ts');
	try {
		return await joinSession(request);
	} catch (error) {
		if (error instanceof Refusal && error.code === 'sandbox-ended') return null;
		throw error;
	}
}
