import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Denial } from './reach-target.ts';

/**
 * Answers a request with a no. The rest of its body is read and dropped, or a client that is still sending would see its
 * connection break in place of the answer.
 */
export function deny(response: ServerResponse, { status, reason }: Denial): void {
	if (response.destroyed) return;
	response.req.unpipe();
	response.req.resume();
	const body = `${reason}\n`;
	const headers = { 'Content-Type': 'text/plain', 'Content-Length': body.length };
	response.writeHead(status, phraseOf(status, reason), headers);
	response.end(body);
}

/** The same to a CONNECT request. Most programs show of it no more than the first line, so that says why as well. */
export function denyTunnel(client: Socket, { status, reason }: Denial): void {
	const body = `${reason}\n`;
	const lines = [
		`HTTP/1.1 ${status} ${phraseOf(status, reason)}`,
		'Content-Type: text/plain',
		`Content-Length: ${body.length}`,
		'Connection: close',
	];
	client.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
	// read to its end, or the answer could be lost with what is unread
	client.resume();
	client.setTimeout(LINGER_MS, () => client.destroy());
}

const LINGER_MS = 10_000;

function phraseOf(status: number, reason: string): string {
	return `${STATUS_CODES[status]}: ${reason}`;
}
