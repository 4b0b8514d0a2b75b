import { connect } from 'node:net';
import { errorCode } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import type { ControlAnswer, ControlFailure, ControlRequest, ControlVerb } from './control-verbs.ts';
import type { SessionPlace } from './session-place.ts';
import { shortSocketPath } from './short-socket-path.ts';

/** How long an owner may take to say that it is there: it may be in the middle of a scan. */
const PING_TIMEOUT_MS = 10_000;

/**
 * Asks the owner of a live session. Null when nobody listens: no owner, or one that was killed. Throws the owner's Refusal,
 * and Refusal 'busy' when it does not answer at all.
 */
export async function askOwner<VERB extends ControlVerb>(
	place: SessionPlace,
	request: ControlRequest<VERB>,
): Promise<ControlAnswer<VERB> | null> {
	// an owner that stands still, such as after Ctrl-Z, would let everybody wait: it has to answer once
	if (request.verb !== 'ping' && (await askOwner(place, { verb: 'ping' })) === null) return null;
	const line = await exchange(place, `${JSON.stringify(request)}\n`, request.verb === 'ping' ? PING_TIMEOUT_MS : 0);
	if (line === null) return null;
	const reply = JSON.parse(line) as { answer: ControlAnswer<VERB> } | { failure: ControlFailure };
	if ('answer' in reply) return reply.answer;
	const { kind, code, message, hint } = reply.failure;
	throw new Refusal(kind, code, message, hint === null ? {} : { hint });
}

/** Without a timeout when that is 0. */
function exchange(place: SessionPlace, request: string, timeoutMs: number): Promise<string | null> {
	const short = shortSocketPath(place.socketPath);
	return new Promise<string | null>((resolve, reject) => {
		let text = '';
		const socket = connect(short.path);
		socket.setEncoding('utf8');
		socket.setTimeout(timeoutMs, () => {
			socket.destroy();
			reject(stoppedRefusal(place));
		});
		socket.on('connect', () => socket.write(request));
		socket.on('data', (chunk: string) => {
			text += chunk;
		});
		socket.on('end', () => resolve(text.endsWith('\n') ? text : null));
		socket.on('error', (error) => {
			const code = errorCode(error);
			if (code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'EPIPE' || isReset(error)) resolve(null);
			else reject(error);
		});
	}).finally(short.release);
}

function stoppedRefusal({ id }: SessionPlace): Refusal {
	const what = `the process that runs session '${id}' does not answer; it may be stopped`;
	return new Refusal('busy', 'session-stopped', what, {
		hint: 'let it go on with `fg` or `kill -CONT`; `dropcloth ps` shows it',
	});
}

function isReset(error: Error): boolean {
	return (error as NodeJS.ErrnoException).code === 'ECONNRESET';
}
