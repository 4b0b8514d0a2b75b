import { isIPv6 } from 'node:net';
import { printable } from '../base/printable.ts';
import { Refusal } from '../base/refusal.ts';
import { addressClass } from './address-class.ts';
import { parseHost, parsePort } from './host-name.ts';
import type { AllowedHost, AllowList } from './network-access.ts';

/**
 * Reads `HOST[:PORT],…`: names, `*.` and a name for all below it, IPv4 addresses, IPv6 addresses (in brackets when a port follows);
 * a port, `*` for every port, or none for 80 and 443. Throws Refusal 'usage' that names the entry.
 */
export function parseAllowList(text: string): AllowList {
	return text.split(',').map(parseEntry);
}

function parseEntry(entry: string): AllowedHost {
	const { host: hostText, port: portText } = split(entry);
	const ports = parsePorts(entry, portText);
	const below = hostText.startsWith('*.');
	const host = parseHost(below ? hostText.slice(2) : hostText);
	if (host === null || (below && host.kind === 'address')) throw badEntry(entry, whyNoHost(entry, hostText));
	if (host.kind === 'name' && !below && KEYWORDS.includes(host.host)) {
		throw badEntry(entry, 'it is all of the network or none of it, and stands alone');
	}
	if (host.kind === 'address') checkAddress(entry, hostText, host.host);
	return { kind: below ? 'below' : host.kind, host: host.host, ports };
}

/** The ports of a host that is named without one. */
const DEFAULT_PORTS = [80, 443] as const;
const KEYWORDS = ['host', 'none'];

/** The host, an IPv6 address in brackets, and what follows the last colon. */
function split(entry: string): { host: string; port: string | null } {
	if (isIPv6(entry)) return { host: `[${entry}]`, port: null };
	const match = /^(\[[^\]]*\]|[^[:][^:]*):(.*)$/s.exec(entry);
	return match === null ? { host: entry, port: null } : { host: match[1] as string, port: match[2] as string };
}

function parsePorts(entry: string, text: string | null): readonly number[] | null {
	if (text === null) return DEFAULT_PORTS;
	if (text === '*') return null;
	const port = parsePort(text);
	if (port === null) throw badEntry(entry, whyNoPort(text));
	return [port];
}

function whyNoPort(text: string): string {
	if (text.startsWith('//')) return 'give the host alone, without what stands before or behind it in a URL';
	if (text.includes(':')) return 'put an IPv6 address in brackets';
	return `'${printable(text)}' is no port from 1 to 65535`;
}

function whyNoHost(entry: string, host: string): string {
	if (entry === '') return 'there is nothing between two commas, or before or after one';
	if (host === '*') return 'it names no host; --net host is the whole network';
	if (host.includes('*')) return 'a * stands for all names below one: *.example.com';
	if (host.startsWith('.')) return `for all names below one, write *${printable(host)}`;
	if (host.includes('/')) return 'give one host, without a path or a range';
	return 'it is no host name and no address';
}

/** What is short for an address elsewhere is more likely a mistake here. */
function checkAddress(entry: string, text: string, address: string): void {
	if (!text.startsWith('[') && text !== address) throw badEntry(entry, `write it as ${address}`);
	if (addressClass(address) === 'the unspecified address') throw badEntry(entry, 'it is the address of no host');
}

function badEntry(entry: string, reason: string): Refusal {
	return new Refusal('usage', 'bad-net', `--net '${printable(entry)}': ${reason}`, {
		hint: 'host, none, or HOST[:PORT],… such as --net api.example.com,*.example.org:443,127.0.0.1:5432',
	});
}
