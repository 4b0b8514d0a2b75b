import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal } from '../base/refusal.ts';
import { askOwner } from './control-client.ts';
import type { ControlAnswer, ControlFailure, ControlRequest } from './control-verbs.ts';
import type { JoinedEnd, JoinedWord } from './join-terms.ts';
import type { SessionPlace } from './session-place.ts';
import { shortSocketPath } from './short-socket-path.ts';

/** How long an owner may take to write an end down; one that stands still does it when it goes on. */
const FAREWELL_PATIENCE_MS = 2_000;

/** The client's end of a connection that stays open while a command is joined to the owner's sandbox. */
export class HeldLine {
	readonly answer: ControlAnswer<'join'>;
	/** Told when the owner wants the command to end. */
	onWord: (word: JoinedWord) => void = () => {};
	readonly #socket: Socket;
	readonly #closed: Promise<void>;

	private constructor(socket: Socket, closed: Promise<void>, answer: ControlAnswer<'join'>) {
		this.#socket = socket;
		this.#closed = closed;
		this.answer = answer;
	}

	/** Asks to join; null when nobody listens. Throws the owner's Refusal, and 'busy' for one that stands still. */
	static async join(place: SessionPlace, request: ControlRequest<'join'>): Promise<HeldLine | null> {
		if ((await askOwner(place, { verb: 'ping' })) === null) return null;
		const short = shortSocketPath(place.socketPath);
		const socket = connect(short.path);
		const closed = new Promise<void>((resolve) => {
			socket.on('error', () => socket.destroy());
			socket.on('end', () => socket.destroy());
			socket.on('close', () => resolve());
		});
		let line: HeldLine | null = null;
		const first = new Promise<string | null>((resolve) => {
			let text = '';
			let isFirst = true;
			socket.setEncoding('utf8').on('data', (chunk: string) => {
				const lines = (text + chunk).split('\n');
				text = lines.pop() ?? '';
				for (const word of lines) {
					if (isFirst) resolve(word);
					else line?.onWord(JSON.parse(word) as JoinedWord);
					isFirst = false;
				}
			});
			void closed.then(() => resolve(null));
		});
		socket.on('connect', () => socket.write(`${JSON.stringify(request)}\n`));
		const text = await first.finally(short.release);
		if (text === null) return null;
		const reply = JSON.parse(text) as { answer: ControlAnswer<'join'> } | { failure: ControlFailure };
		if ('failure' in reply) {
			socket.destroy();
			const { kind, code, message, hint } = reply.failure;
			throw new Refusal(kind, code, message, hint === null ? {} : { hint });
		}
		line = new HeldLine(socket, closed, reply.answer);
		return line;
	}

	/** Tells the owner how the command ended, and waits until that is written down, though not for ever. */
	async farewell(end: JoinedEnd): Promise<void> {
		this.#socket.write(`${JSON.stringify(end)}\n`);
		await Promise.race([this.#closed, wait(FAREWELL_PATIENCE_MS, undefined, { ref: false })]);
		this.#socket.destroy();
	}
}
