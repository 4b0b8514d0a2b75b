import { connect } from 'node:net';
import { errorCode } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import { type ChannelAnswer, type ChannelRequest, channelLine, parseAnswer } from './channel-grammar.ts';

/** How long the owner may take: it may have much to take in. */
const PATIENCE_MS = 120_000;
/** Longer than any answer. */
const ANSWER_CHARACTERS = 1_000;

/** Asks the owner of the sandbox that this runs in. Throws Refusal when it cannot be reached, or does not do it. */
export async function askChannel(
	socketPath: string,
	request: ChannelRequest,
): Promise<Extract<ChannelAnswer, { snapshot: number }>> {
	const answer = parseAnswer((await exchange(socketPath, channelLine(request))).trimEnd());
	switch (answer?.kind) {
		case 'ok':
		case 'unchanged':
			return answer;
		case 'limited':
			throw new Refusal('busy', 'limited', 'too many checkpoints in too short a time', {
				hint: 'a few at once are taken, then one a second',
			});
		case 'refused':
			throw new Refusal('failed', 'checkpoint-refused', answer.why);
		default:
			throw new Refusal('busy', 'channel-busy', 'the session’s owner did not answer: too many ask at the same time', {
				hint: 'try again',
			});
	}
}

function exchange(path: string, line: string): Promise<string> {
	return new Promise((resolve, reject) => {
		let text = '';
		const socket = connect(path);
		socket.setEncoding('utf8');
		socket.setTimeout(PATIENCE_MS, () => {
			const what = `the session's owner has not answered for ${PATIENCE_MS / 1000} s`;
			socket.destroy(new Refusal('busy', 'owner-silent', what, { hint: 'the checkpoint may still be taken' }));
		});
		socket.on('connect', () => socket.write(line));
		socket.on('data', (chunk: string) => {
			text = `${text}${chunk}`.slice(0, ANSWER_CHARACTERS);
		});
		socket.on('end', () => resolve(text));
		socket.on('error', (error) => {
			const code = (error as NodeJS.ErrnoException).code ?? '';
			if (HUNG_UP.has(code)) resolve(text);
			else reject(errorCode(error) === null ? error : unreachable(path, error));
		});
	});
}

/** The owner's way to say that too many are there. */
const HUNG_UP = new Set(['EPIPE', 'ECONNRESET', 'EAGAIN']);

function unreachable(path: string, cause: unknown): Refusal {
	return new Refusal('failed', 'no-channel', `the session's owner cannot be reached at ${path}`, {
		cause,
		hint: 'checkpoints are asked for from inside a sandbox; outside, use `dropcloth snap`',
	});
}
