import { bracketed, type Host, parseHost, parsePort } from './host-name.ts';

/** Where a request to the proxy leads. */
export interface Target extends Host {
	readonly port: number;
}

/** `example.com:443` or `[::1]:443`, as a CONNECT request names its target; null for anything else. */
export function connectTarget(authority: string): Target | null {
	const match = CONNECT.exec(authority);
	return match === null ? null : target(match[1] as string, match[2] as string);
}

/**
 * `http://example.com:8080/path?query`, as any other request names it, with the path that its server is asked for, to the byte.
 * Null for anything else: another scheme, a user name, an escape in the host, a fragment, characters that no URL holds.
 */
export function httpTarget(url: string): { readonly target: Target; readonly path: string } | null {
	const match = ABSOLUTE.exec(url);
	if (match === null) return null;
	const [, host = '', port = '80', path = ''] = match;
	const found = target(host, port);
	return found && { target: found, path: path.startsWith('/') ? path : `/${path}` };
}

/** As people write it, and as a Host header has it but for the usual port. */
export function targetText({ host, port }: Target): string {
	return `${bracketed(host)}:${port}`;
}

const CONNECT = /^(\[[^\]]*\]|[^:[\]]+):(\d+)$/;
const ABSOLUTE = /^http:\/\/(\[[^\]]*\]|[^:[\]/?#]+)(?::(\d+))?((?:[/?][\x21\x22\x24-\x7e\x80-\xff]*)?)$/i;

function target(hostText: string, portText: string): Target | null {
	const host = parseHost(hostText);
	const port = parsePort(portText);
	return host === null || port === null ? null : { ...host, port };
}
