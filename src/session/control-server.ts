import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { fsPath } from '../base/bytes.ts';
import { isDiskFull } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import type { ControlFailure, ControlHandlers, ControlRequest, ControlVerb, HeldConnection } from './control-verbs.ts';
import type { SessionPlace } from './session-place.ts';
import { shortSocketPath } from './short-socket-path.ts';

/** Longest request, in UTF-16 units; anything more is cut off. A command line, or the paths of a restore, may be long. */
const REQUEST_UNITS = 2 ** 24;
/** How long a client may take to finish its line. */
const REQUEST_TIMEOUT_MS = 5_000;

/** The owner's end of the control socket: one request and one answer, a line of JSON each, per connection. */
export class ControlServer {
	readonly #server: Server;
	readonly #place: SessionPlace;

	/** Connections that have not asked for anything yet. */
	readonly #silent: Set<Socket>;

	private constructor(server: Server, place: SessionPlace, silent: Set<Socket>) {
		this.#server = server;
		this.#place = place;
		this.#silent = silent;
	}

	/** Starts to listen, in the place of whatever a killed owner left. Only with the owner's lock held. */
	static async listen(place: SessionPlace, handlers: ControlHandlers): Promise<ControlServer> {
		rmSync(fsPath(place.socketPath), { force: true });
		const silent = new Set<Socket>();
		const server = createServer({ allowHalfOpen: true }, (socket) => serve(socket, handlers, silent));
		const short = shortSocketPath(place.socketPath);
		const umask = process.umask(0o177);
		try {
			await new Promise<void>((resolve, reject) => {
				server.once('error', reject);
				server.listen(short.path, resolve);
			});
		} finally {
			process.umask(umask);
			short.release();
		}
		chmodSync(fsPath(place.socketPath), 0o600);
		return new ControlServer(server, place, silent);
	}

	/** Stops taking requests, as if nobody listened any more; those being answered are finished by their handlers. */
	close(): void {
		this.#server.close();
		for (const socket of this.#silent) socket.destroy();
		rmSync(fsPath(this.#place.socketPath), { force: true });
	}
}

function serve(socket: Socket, handlers: ControlHandlers, silent: Set<Socket>): void {
	const lines = new Lines();
	let held: Held | null = null;
	silent.add(socket);
	socket.setEncoding('utf8');
	socket.setTimeout(REQUEST_TIMEOUT_MS, () => {
		if (silent.has(socket)) socket.destroy();
	});
	const gone = () => held?.hear(null);
	socket.on('error', () => socket.destroy());
	socket.on('end', gone);
	socket.on('close', () => {
		silent.delete(socket);
		gone();
	});
	const hold = () => (held = new Held(socket));
	socket.on('data', (chunk: string) => {
		for (const line of lines.add(chunk)) {
			if (silent.delete(socket)) {
				void answer(line, handlers, hold).then((text) => {
					if (held === null) socket.end(text);
					else socket.write(text);
				});
			} else {
				held?.hear(line);
			}
		}
		if (lines.pendingUnits > REQUEST_UNITS) socket.destroy();
	});
}

/** The lines of a text that comes in chunks. */
class Lines {
	#rest = '';

	/** The lines that a chunk completes, without their ends. */
	add(chunk: string): string[] {
		const lines = (this.#rest + chunk).split('\n');
		this.#rest = lines.pop() ?? '';
		return lines;
	}

	get pendingUnits(): number {
		return this.#rest.length;
	}
}

class Held implements HeldConnection {
	readonly word: Promise<unknown>;
	readonly #socket: Socket;
	#heard: (word: unknown) => void = () => {};

	constructor(socket: Socket) {
		this.#socket = socket;
		this.word = new Promise((resolve) => {
			this.#heard = resolve;
		});
	}

	/** A line of the client, or null for its end. */
	hear(line: string | null): void {
		try {
			this.#heard(line === null ? null : JSON.parse(line));
		} catch {
			// whoever does not speak our language is as good as gone
			this.#heard(null);
		}
	}

	tell(word: object): void {
		if (!this.#socket.destroyed) this.#socket.write(`${JSON.stringify(word)}\n`);
	}

	close(): void {
		this.#socket.end();
		this.#socket.destroySoon();
	}
}

async function answer(line: string, handlers: ControlHandlers, hold: () => HeldConnection): Promise<string> {
	try {
		const request = JSON.parse(line) as ControlRequest<ControlVerb>;
		if (!Object.hasOwn(handlers, request.verb))
			throw new Refusal('usage', 'unknown-verb', 'the owner does not know this request');
		const handle = handlers[request.verb] as (request: ControlRequest<ControlVerb>, hold: unknown) => unknown;
		return `${JSON.stringify({ answer: await handle(request, hold) })}\n`;
	} catch (error) {
		return `${JSON.stringify({ failure: describeFailure(error) })}\n`;
	}
}

function describeFailure(error: unknown): ControlFailure {
	if (error instanceof Refusal) return { kind: error.kind, code: error.code, message: error.message, hint: error.hint };
	const message = error instanceof Error ? error.message : String(error);
	if (isDiskFull(error)) {
		return {
			kind: 'full',
			code: 'disk-full',
			message,
			hint: 'nothing that was committed is lost; make room and try again',
		};
	}
	return { kind: 'failed', code: 'owner-failed', message: `the session's owner failed: ${message}`, hint: null };
}
