import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { deny, denyTunnel } from './deny-request.ts';
import { forwardRequest } from './forward-request.ts';
import type { AllowList } from './network-access.ts';
import { connectTarget, httpTarget, type Target } from './network-target.ts';
import { type Denial, type Outside, reachTarget } from './reach-target.ts';

/** What a proxy is made of. */
export interface ProxyOptions {
	readonly list: AllowList;
	readonly outside: Outside;
	/** Told of each host that was asked for in vain, once; of so many at most. */
	readonly notify: (text: string) => void;
}

/** Connections from inside at once; those beyond are closed. */
export const MOST_CONNECTIONS = 256;

/**
 * The HTTP proxy of an allow-list: CONNECT, and plain HTTP with the whole URL. Every request is judged anew, also on a
 * connection that was used before. It trusts nothing that comes from inside, and answers every no with a reason.
 */
export class NetworkProxy {
	readonly server: Server;
	readonly #options: ProxyOptions;
	/** Every open socket, of both sides. */
	readonly #sockets = new Set<Socket>();
	/** Requests that are not answered yet, by their connection. */
	readonly #unanswered = new WeakMap<Socket, number>();
	readonly #told = new Set<string>();
	#outgoing = 0;

	constructor(options: ProxyOptions) {
		this.#options = options;
		this.server = createServer({ insecureHTTPParser: false, maxHeaderSize: MOST_HEADER_BYTES, noDelay: true });
		this.server.maxConnections = MOST_CONNECTIONS;
		this.server.headersTimeout = HEADERS_MS;
		this.server.keepAliveTimeout = HEADERS_MS;
		// an upload may take its time, as long as it moves
		this.server.requestTimeout = 0;
		this.server.timeout = IDLE_MS;
		this.server.on('connection', (socket) => this.#keep(socket));
		this.server.on('request', (request, response) => {
			this.#forward(request, response).catch((error) => this.#failed(error, request.socket));
		});
		this.server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
			this.#tunnel(request, socket, head).catch((error) => this.#failed(error, socket));
		});
	}

	/** Closes the server and every connection, of both sides. */
	close(): void {
		this.server.close();
		for (const socket of this.#sockets) socket.destroy();
	}

	async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
		if (!this.#count(request.socket, response)) return;
		const parsed = httpTarget(request.url ?? '');
		if (parsed === null) return deny(response, NO_TARGET);
		const reached = await this.#reach(parsed.target);
		if ('status' in reached) return deny(response, reached);
		if (request.socket.destroyed) reached.destroy();
		else forwardRequest(request, response, { ...parsed, socket: reached });
	}

	async #tunnel({ url = '' }: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
		client.on('error', () => client.destroy());
		// what follows on this connection is no HTTP: an answer that is still to come would end up in it
		if ((this.#unanswered.get(client) ?? 0) > 0) return void client.destroy();
		const target = connectTarget(url);
		if (target === null) return denyTunnel(client, NO_TARGET);
		const reached = await this.#reach(target);
		if ('status' in reached) return denyTunnel(client, reached);
		if (client.destroyed) return void reached.destroy();
		client.write('HTTP/1.1 200 Connection established\r\n\r\n');
		if (head.length > 0) reached.write(head);
		join(client, reached);
		join(reached, client);
	}

	/** False when the connection was closed, for it has asked for more than anyone waits for. */
	#count(socket: Socket, response: ServerResponse): boolean {
		const unanswered = (this.#unanswered.get(socket) ?? 0) + 1;
		this.#unanswered.set(socket, unanswered);
		response.once('close', () => this.#unanswered.set(socket, (this.#unanswered.get(socket) ?? 1) - 1));
		if (unanswered <= MOST_UNANSWERED) return true;
		socket.destroy();
		return false;
	}

	async #reach(target: Target): Promise<Socket | Denial> {
		if (this.#outgoing >= MOST_CONNECTIONS) return { status: 503, reason: 'too many connections at once' };
		this.#outgoing++;
		const { list, outside } = this.#options;
		const reached = await reachTarget(list, target, outside);
		if ('status' in reached) {
			this.#outgoing--;
			if (reached.status === 403) this.#tell(target.host, reached.reason);
			return reached;
		}
		this.#keep(reached);
		reached.once('close', () => this.#outgoing--);
		return reached;
	}

	#keep(socket: Socket): void {
		this.#sockets.add(socket);
		socket.setMaxListeners(0);
		socket.setKeepAlive(true, KEEP_ALIVE_MS);
		socket.setTimeout(IDLE_MS, () => socket.destroy());
		socket.once('close', () => this.#sockets.delete(socket));
	}

	/** Whatever a request makes go wrong in here ends that request, and not the session. */
	#failed(error: Error, socket: Socket): void {
		socket.destroy();
		this.#tell('', `a request failed: ${error.message}`);
	}

	#tell(host: string, reason: string): void {
		if (this.#told.size > MOST_TOLD || this.#told.has(host)) return;
		this.#told.add(host);
		this.#options.notify(this.#told.size > MOST_TOLD ? 'network: further hosts were refused' : `network: ${reason}`);
	}
}

const MOST_HEADER_BYTES = 32 * 1024;
const HEADERS_MS = 60_000;
/** Of a connection on which nothing moves, such as one for events from a server. */
const IDLE_MS = 3_600_000;
/** After which a peer is asked whether it is still there. */
const KEEP_ALIVE_MS = 60_000;
/** Of one connection; some programs send several requests before they read the first answer. */
const MOST_UNANSWERED = 32;
const MOST_TOLD = 20;

const NO_TARGET: Denial = {
	status: 400,
	reason: 'this is the proxy of a sandbox: ask it for http://HOST[:PORT]/PATH, or CONNECT HOST:PORT',
};

/** Passes on what comes until it ends; whatever ends badly takes the other side with it. */
function join(from: Socket, to: Socket): void {
	from.on('error', () => to.destroy());
	from.on('close', () => {
		// its end has been passed on, unless it came too early
		if (!from.readableEnded) to.destroy();
	});
	from.pipe(to);
}
