import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { fsPath } from '../base/bytes.ts';
import {
	answerLine,
	CHANNEL_LINE_BYTES,
	type ChannelAnswer,
	type ChannelRequest,
	parseChannelLine,
} from './channel-grammar.ts';
import { shortSocketPath } from './short-socket-path.ts';

/** Connections at one time; more are closed at once. */
const MOST_CONNECTIONS = 16;
/** How long a client may take from connecting to the end of its line. */
const REQUEST_TIMEOUT_MS = 1_000;
const NEWLINE = 10;

/** What the owner does for a request. Never rejects. */
export type ChannelHandler = (request: ChannelRequest) => Promise<ChannelAnswer>;

/**
 * The owner's end of the channel: a socket that is shown inside the sandbox. One request and one answer per connection.
 * It listens before the launch, which shows it inside, and answers from when there is a run that can do something.
 */
export class ChannelServer {
	/** Where the socket lies outside. */
	readonly path: string;
	readonly #server: Server;
	readonly #connections: ReadonlySet<Socket>;
	readonly #answerWith: (handle: ChannelHandler) => void;

	private constructor(
		path: string,
		server: Server,
		connections: ReadonlySet<Socket>,
		answerWith: (handle: ChannelHandler) => void,
	) {
		this.path = path;
		this.#server = server;
		this.#connections = connections;
		this.#answerWith = answerWith;
	}

	/** Starts to listen, in the place of whatever a killed owner left. Only by who is or is about to be the owner. */
	static async listen(path: string): Promise<ChannelServer> {
		rmSync(fsPath(path), { force: true });
		const { promise, resolve } = promised<ChannelHandler>();
		// a client may end its own side before it reads the answer
		const connections = new Set<Socket>();
		const server = createServer({ allowHalfOpen: true }, (socket) => {
			connections.add(socket);
			socket.on('close', () => connections.delete(socket));
			serve(socket, promise);
		});
		server.maxConnections = MOST_CONNECTIONS;
		await listenPrivately(server, path);
		return new ChannelServer(path, server, connections, resolve);
	}

	/** Has requests answered from now on, and those that came already. */
	answerWith(handle: ChannelHandler): void {
		this.#answerWith(handle);
	}

	/** Lets everybody go, answered or not: when everything inside has ended. */
	close(): void {
		this.#server.close();
		for (const socket of this.#connections) socket.destroy();
		rmSync(fsPath(this.path), { force: true });
	}
}

/** Node binds the socket before `listen` returns, so that it is private from its first moment. */
async function listenPrivately(server: Server, path: string): Promise<void> {
	const short = shortSocketPath(path);
	try {
		await new Promise<void>((resolve, reject) => {
			server.once('error', reject);
			const umask = process.umask(0o177);
			try {
				server.listen(short.path, resolve);
			} finally {
				process.umask(umask);
			}
		});
	} finally {
		short.release();
	}
}

function serve(socket: Socket, handler: Promise<ChannelHandler>): void {
	const line = Buffer.alloc(CHANNEL_LINE_BYTES);
	let length = 0;
	const tooSlow = setTimeout(() => socket.destroy(), REQUEST_TIMEOUT_MS).unref();
	const finish = (answer: Promise<ChannelAnswer>) => {
		clearTimeout(tooSlow);
		// whatever else it sends stays where it is
		socket.removeAllListeners('data').pause();
		void answer.then((given) => socket.end(answerLine(given), () => socket.destroy()));
	};
	socket.on('error', () => socket.destroy());
	socket.on('close', () => clearTimeout(tooSlow));
	socket.on('end', () => socket.destroy());
	socket.on('data', (chunk: Buffer) => {
		const end = chunk.indexOf(NEWLINE);
		const part = end < 0 ? chunk : chunk.subarray(0, end);
		if (length + part.length >= CHANNEL_LINE_BYTES) {
			finish(Promise.resolve({ kind: 'refused', why: `the line is longer than ${CHANNEL_LINE_BYTES} bytes` }));
			return;
		}
		part.copy(line, length);
		length += part.length;
		if (end >= 0) finish(answerTo(line.subarray(0, length), handler));
	});
}

async function answerTo(line: Buffer, handler: Promise<ChannelHandler>): Promise<ChannelAnswer> {
	const request = parseChannelLine(line);
	if (typeof request === 'string') return { kind: 'refused', why: request };
	return (await handler)(request);
}

function promised<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
	let resolve: (value: T) => void = () => {};
	const promise = new Promise<T>((found) => {
		resolve = found;
	});
	return { promise, resolve };
}
