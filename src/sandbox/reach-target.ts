import { connect, type Socket } from 'node:net';
import { addressClass } from './address-class.ts';
import { bracketed } from './host-name.ts';
import type { AllowedHost, AllowList } from './network-access.ts';
import { type Target, targetText } from './network-target.ts';

/** Why a request is not carried out, as an HTTP status and one line of ASCII. */
export interface Denial {
	readonly status: 400 | 403 | 502 | 503;
	readonly reason: string;
}

/** What of the world outside a decision needs. */
export interface Outside {
	/** Every address of a name; rejects with an error that has a `code` when it has none. */
	readonly addressesOf: (name: string) => Promise<readonly string[]>;
	/** Whether an address is one of this machine's own. */
	readonly isOwn: (address: string) => boolean;
}

/**
 * Connects to where a request leads, if the allow-list lets it. A name is looked up once, and the connection goes to one of
 * the addresses that were found and allowed then.
 */
export async function reachTarget(list: AllowList, target: Target, outside: Outside): Promise<Socket | Denial> {
	if (!list.some((allowed) => names(allowed, target)))
		return denial(403, `${targetText(target)} is not allowed: run with --net ...,${entryFor(target)} to allow it`);
	const addresses = await addressesOf(target, outside);
	if ('status' in addresses) return addresses;
	const refused = new Map<string, string>();
	const allowed = addresses.filter((address) => {
		const why = whyRefused(list, target, address, outside);
		if (why !== null) refused.set(address, why);
		return why === null;
	});
	const [first] = refused;
	if (allowed.length === 0 && first !== undefined) return denial(403, insideText(target, ...first));
	return await connectToOne(target, allowed.slice(0, MOST_ADDRESSES));
}

/** Whether an entry of the list names the host and port of a request. */
function names({ kind, host, ports }: AllowedHost, target: Target): boolean {
	if (ports !== null && !ports.includes(target.port)) return false;
	if (kind === 'below') return target.kind === 'name' && target.host.endsWith(`.${host}`);
	return kind === target.kind && host === target.host;
}

async function addressesOf({ kind, host }: Target, outside: Outside): Promise<readonly string[] | Denial> {
	if (kind === 'address') return [host];
	// RFC 6761: it is never asked for, so that nobody's answer can make it anything else
	if (host === 'localhost') return LOOPBACK;
	try {
		return await outside.addressesOf(host);
	} catch (error) {
		return denial(502, `${host} has no address (${errorName(error)})`);
	}
}

const LOOPBACK = ['127.0.0.1', '::1'];

/** What keeps an address that a name leads to from being reached; null when nothing does. */
function whyRefused(list: AllowList, target: Target, address: string, outside: Outside): string | null {
	if (target.kind === 'address' || target.host === 'localhost') return null;
	const named: Target = { kind: 'address', host: address, port: target.port };
	if (list.some((allowed) => names(allowed, named))) return null;
	return addressClass(address) ?? (outside.isOwn(address) ? 'an address of this machine' : null);
}

function insideText(target: Target, address: string, why: string): string {
	const entry = entryFor({ kind: 'address', host: address, port: target.port });
	return `${targetText(target)} leads to ${address}, ${why}: run with --net ...,${entry} to allow that`;
}

function entryFor(target: Target): string {
	return target.port === 80 || target.port === 443 ? bracketed(target.host) : targetText(target);
}

const MOST_ADDRESSES = 6;
/** For one address while there are others to try, and for the last one. */
const TRY_MS = 3_000;
const LAST_TRY_MS = 30_000;

async function connectToOne(target: Target, addresses: readonly string[]): Promise<Socket | Denial> {
	let failure = 'no address';
	for (const [index, address] of addresses.entries()) {
		const limitMs = index < addresses.length - 1 ? TRY_MS : LAST_TRY_MS;
		const result = await connectTo(address, target.port, limitMs);
		if (typeof result !== 'string') return result;
		failure = result;
	}
	return denial(502, `${targetText(target)} cannot be reached (${failure})`);
}

/** The connection, or the name of what went wrong. */
function connectTo(host: string, port: number, limitMs: number): Promise<Socket | string> {
	return new Promise((resolve) => {
		const socket = connect({
			host,
			port,
			allowHalfOpen: true,
			noDelay: true,
			keepAlive: true,
			keepAliveInitialDelay: 60_000,
		});
		const limit = setTimeout(
			() => socket.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })),
			limitMs,
		);
		const failed = (error: Error) => {
			clearTimeout(limit);
			resolve(errorName(error));
		};
		// stays, so that an error is never without a listener until the caller has its own
		socket.on('error', failed);
		socket.once('connect', () => {
			clearTimeout(limit);
			resolve(socket);
		});
	});
}

function denial(status: Denial['status'], reason: string): Denial {
	return { status, reason };
}

function errorName(error: unknown): string {
	const code = (error as { code?: unknown } | null)?.code;
	return typeof code === 'string' ? code : String(error);
}
