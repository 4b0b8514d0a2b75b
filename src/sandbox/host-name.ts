import { isIPv4, isIPv6 } from 'node:net';

/** A host in the one spelling that is compared, resolved and shown. */
export interface Host {
	readonly kind: 'address' | 'name';
	/** An address in its shortest form, without brackets; or a name in lower case and ASCII, without the last point. */
	readonly host: string;
}

/**
 * Reads a host as a URL has it: a name, an IPv4 address in any spelling that some program takes for one (`0x7f.1`, `2130706433`), or
 * an IPv6 address in brackets. Null for anything else, such as a port, a user name, an escape or a zone behind it.
 */
export function parseHost(text: string): Host | null {
	if (!NAME_CHARACTERS.test(text) && !BRACKETED.test(text)) return null;
	const host = urlHost(text);
	if (host === null) return null;
	if (host.startsWith('[')) return { kind: 'address', host: withoutMapping(host.slice(1, -1)) };
	if (isIPv4(host)) return { kind: 'address', host };
	const name = host.endsWith('.') ? host.slice(0, -1) : host;
	return name.length <= LONGEST_NAME && NAME.test(name) ? { kind: 'name', host: name } : null;
}

/** A host as it stands before a port. */
export function bracketed(host: string): string {
	return isIPv6(host) ? `[${host}]` : host;
}

/** A port as it is usually written; null for anything else. */
export function parsePort(text: string): number | null {
	const port = PORT.test(text) ? Number(text) : 0;
	return port >= 1 && port <= 65535 ? port : null;
}

const NAME_CHARACTERS = /^[^\s/?#@\\:%[\]]+$/u;
const BRACKETED = /^\[[0-9a-f:.]+\]$/i;
const PORT = /^[1-9]\d{0,4}$/;
const LONGEST_NAME = 253;
/** Underscores are in no host name by the standard, and in many all the same. */
const NAME = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;

/** What every browser makes of it: other alphabets as punycode, numbers as an address. */
function urlHost(text: string): string | null {
	const url = `http://${text}/`;
	return URL.canParse(url) ? new URL(url).hostname : null;
}

/** `::ffff:7f00:1` is 127.0.0.1 to the kernel. */
function withoutMapping(address: string): string {
	const match = MAPPED.exec(address);
	if (match === null) return address;
	const [high, low] = [Number.parseInt(match[1] as string, 16), Number.parseInt(match[2] as string, 16)];
	return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** As the URL standard writes addresses: never with decimal numbers. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;
