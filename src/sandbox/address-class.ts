import { isIPv4, isIPv6 } from 'node:net';

/**
 * What keeps an address from being one of the public internet, such as `a private address`; null when nothing does. A name that
 * leads to one of these would reach this machine or its neighbours.
 */
export function addressClass(address: string): string | null {
	if (isIPv4(address)) return classOfV4(wordsOfV4(address));
	if (!isIPv6(address)) return 'no address';
	// a zone stands only where an address means something on one link alone
	if (address.includes('%')) return 'a link-local address';
	const value = valueOfV6(address);
	if (CARRY_V4.some(({ first, bits }) => value >> BigInt(128 - bits) === first)) {
		return classOfV4(Number(value & 0xffffffffn));
	}
	const found = V6.find(({ first, bits }) => value >> BigInt(128 - bits) === first);
	if (found !== undefined) return found.name;
	return value >> 125n === 1n ? null : 'a reserved address';
}

interface Range<T> {
	/** The first `bits` bits of every address in it. */
	readonly first: T;
	readonly bits: number;
	readonly name: string;
}

/** Registries: iana-ipv4-special-registry, iana-ipv6-special-registry. */
const V4: readonly Range<number>[] = [
	v4('0.0.0.0', 8, 'the unspecified address'),
	v4('10.0.0.0', 8, 'a private address'),
	v4('100.64.0.0', 10, 'a private address of a carrier'),
	v4('127.0.0.0', 8, 'a loopback address'),
	v4('169.254.0.0', 16, 'a link-local address'),
	v4('172.16.0.0', 12, 'a private address'),
	v4('192.0.0.0', 24, 'a reserved address'),
	v4('192.0.2.0', 24, 'an address for documentation'),
	v4('192.88.99.0', 24, 'an address of a tunnel'),
	v4('192.168.0.0', 16, 'a private address'),
	v4('198.18.0.0', 15, 'an address for benchmarks'),
	v4('198.51.100.0', 24, 'an address for documentation'),
	v4('203.0.113.0', 24, 'an address for documentation'),
	// public by its number, and yet in Azure the machine's own platform, with its secrets
	v4('168.63.129.16', 32, 'an address of the cloud platform'),
	v4('224.0.0.0', 4, 'a multicast address'),
	v4('240.0.0.0', 4, 'a reserved address'),
];

const V6: readonly Range<bigint>[] = [
	v6('::', 128, 'the unspecified address'),
	v6('::1', 128, 'a loopback address'),
	v6('64:ff9b:1::', 48, 'a private address of a translator'),
	v6('fc00::', 7, 'a private address'),
	v6('fe80::', 10, 'a link-local address'),
	v6('fec0::', 10, 'a private address'),
	v6('ff00::', 8, 'a multicast address'),
	// of 2000::/3, which is all that is given out: Teredo and other protocols, 6to4, documentation
	v6('2001::', 23, 'an address of a tunnel'),
	v6('2001:db8::', 32, 'an address for documentation'),
	v6('2002::', 16, 'an address of a tunnel'),
	v6('3fff::', 20, 'an address for documentation'),
];

/** IPv4-mapped, and what NAT64 translates: these lead to the IPv4 address in their last 32 bits. */
const CARRY_V4 = [v6('::ffff:0:0', 96, ''), v6('64:ff9b::', 96, '')];

function classOfV4(value: number): string | null {
	return V4.find(({ first, bits }) => value >>> (32 - bits) === first)?.name ?? null;
}

function v4(start: string, bits: number, name: string): Range<number> {
	return { first: wordsOfV4(start) >>> (32 - bits), bits, name };
}

function v6(start: string, bits: number, name: string): Range<bigint> {
	return { first: valueOfV6(start) >> BigInt(128 - bits), bits, name };
}

function wordsOfV4(address: string): number {
	return address.split('.').reduce((value, part) => value * 256 + Number(part), 0);
}

function valueOfV6(address: string): bigint {
	const dotted = address.lastIndexOf(':') + 1;
	const tail = address.slice(dotted);
	const value = isIPv4(tail) ? wordsOfV4(tail) : null;
	const text = value === null ? address : `${address.slice(0, dotted)}${groupsOf(value)}`;
	const [head = '', rest] = text.split('::');
	const before = words(head);
	const after = rest === undefined ? [] : words(rest);
	const zeros = new Array(8 - before.length - after.length).fill('0');
	return [...before, ...zeros, ...after].reduce((sum, word) => (sum << 16n) | BigInt(`0x${word}`), 0n);
}

function groupsOf(value: number): string {
	return `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
}

function words(text: string): string[] {
	return text === '' ? [] : text.split(':');
}
