import { accessSync, constants } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import type { CliContext } from './context.ts';

/** The way from inside a sandbox to its owner. */
export interface Channel {
	readonly socketPath: string;
	readonly sessionId: string | null;
}

/** The channel of the sandbox that this runs in; null outside. */
export function channelInside(env: CliContext['env']): Channel | null {
	const socketPath = env['DROPCLOTH_SOCKET'];
	return socketPath ? { socketPath, sessionId: env['DROPCLOTH_SESSION'] ?? null } : null;
}

/**
 * What a failure is really about when it comes of the store being hidden inside a sandbox; any other failure as it is.
 */
export function explainInside(error: unknown, { env }: Pick<CliContext, 'env'>, storePath: string): unknown {
	const byStore = error instanceof Refusal ? NO_SESSION.has(error.code) : errorCode(error) === 'EROFS';
	return byStore && isStoreHidden(env, storePath) ? insideRefusal(env, error) : error;
}

/** Whether this runs in a sandbox that hides the store. One that was made inside is not hidden. */
export function isStoreHidden(env: CliContext['env'], storePath: string): boolean {
	if (channelInside(env) === null) return false;
	try {
		accessSync(fsPath(storePath), constants.W_OK);
		return false;
	} catch (error) {
		return OUT_OF_REACH.has(errorCode(error) ?? '');
	}
}

/** Says that the store of sessions is out of reach in here. */
export function insideRefusal(env: CliContext['env'], cause?: unknown): Refusal {
	const what = `this is inside the sandbox of session '${env['DROPCLOTH_SESSION'] ?? ''}', where the store of sessions is hidden`;
	return new Refusal('failed', 'inside-sandbox', what, {
		cause,
		hint: 'in here, `dropcloth checkpoint` takes a snapshot; everything else is done outside',
	});
}

const OUT_OF_REACH = new Set(['EROFS', 'EACCES', 'ENOENT']);
const NO_SESSION = new Set(['no-such-session', 'no-session-here']);
