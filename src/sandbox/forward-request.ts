import { type IncomingMessage, type OutgoingMessage, type ServerResponse, request as startRequest } from 'node:http';
import type { Socket } from 'node:net';
import { deny } from './deny-request.ts';
import { bracketed } from './host-name.ts';
import { type Target, targetText } from './network-target.ts';

/** Where a request goes: the connection was made to what was judged. */
interface Route {
	readonly target: Target;
	readonly path: string;
	readonly socket: Socket;
}

/**
 * Sends a plain HTTP request on and its answer back. The connection takes this one request: the message is written anew, with
 * a length or in chunks of its own, so that nobody beyond can see another end of it, or another host in it.
 */
export function forwardRequest(request: IncomingMessage, response: ServerResponse, route: Route): void {
	const { target, path, socket } = route;
	const { 'transfer-encoding': coding, 'content-length': length } = request.headers;
	if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
		socket.destroy();
		deny(response, { status: 400, reason: 'a transfer coding other than chunked' });
		return;
	}
	const outgoing = startRequest({
		// no agent, not even `false`: that would make a connection of its own
		createConnection: () => socket,
		setHost: false,
		insecureHTTPParser: false,
		maxHeaderSize: MOST_ANSWER_HEADER_BYTES,
		method: request.method,
		path,
	});
	outgoing.setHeader('Host', target.port === 80 ? bracketed(target.host) : targetText(target));
	passHeaders(request, outgoing, NOT_SENT_ON);
	outgoing.setHeader('Connection', 'close');
	if (coding !== undefined) outgoing.setHeader('Transfer-Encoding', 'chunked');
	else if (length !== undefined) outgoing.setHeader('Content-Length', length);

	const noAnswer = (why: string) => {
		if (!response.headersSent) deny(response, { status: 502, reason: `${targetText(target)} gave no answer (${why})` });
		else if (!response.writableEnded) response.destroy();
	};
	outgoing.on('response', (answer) => sendBack(answer, response, noAnswer));
	outgoing.on('upgrade', (_answer, upgraded) => {
		upgraded.destroy();
		noAnswer('a status of 101');
	});
	outgoing.on('error', (error: NodeJS.ErrnoException) => noAnswer(error.code ?? 'not HTTP'));
	const clientGone = () => outgoing.destroy();
	request.socket.once('close', clientGone);
	outgoing.once('close', () => request.socket.off('close', clientGone));
	if (coding === undefined && length === undefined) outgoing.end();
	else request.pipe(outgoing);
}

const MOST_ANSWER_HEADER_BYTES = 64 * 1024;

/** What is between two hops, RFC 9110 7.6.1, or written anew. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];
const NOT_SENT_ON = [...HOP_BY_HOP, 'host', 'content-length', 'expect', 'proxy-authorization'];
const NOT_SENT_BACK = [...HOP_BY_HOP, 'proxy-authenticate', 'proxy-authentication-info'];

function passHeaders(from: IncomingMessage, to: OutgoingMessage, without: readonly string[]): void {
	const dropped = new Set([
		...without,
		...(from.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()),
	]);
	for (let at = 0; at < from.rawHeaders.length; at += 2) {
		const [name = '', value = ''] = from.rawHeaders.slice(at, at + 2);
		if (!dropped.has(name.toLowerCase())) to.appendHeader(name, value);
	}
}

function sendBack(answer: IncomingMessage, response: ServerResponse, noAnswer: (why: string) => void): void {
	const status = answer.statusCode ?? 0;
	if (status < 200) {
		answer.destroy();
		noAnswer(`a status of ${status}`);
		return;
	}
	response.sendDate = false;
	passHeaders(answer, response, NOT_SENT_BACK);
	response.writeHead(status);
	answer.pipe(response);
	// cut off: the client must not take what it has for the whole
	answer.on('close', () => {
		if (!answer.complete) response.destroy();
	});
	answer.on('error', () => response.destroy());
}
