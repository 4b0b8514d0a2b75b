import { expect, test } from 'vitest';
import { Refusal } from '../base/refusal.ts';
import { parseAllowList } from './allow-list.ts';

test.each([
	['example.com', { kind: 'name', host: 'example.com', ports: [80, 443] }],
	['Example.COM.:8080', { kind: 'name', host: 'example.com', ports: [8080] }],
	['example.com:*', { kind: 'name', host: 'example.com', ports: null }],
	['*.example.com', { kind: 'below', host: 'example.com', ports: [80, 443] }],
	['*.example.com:443', { kind: 'below', host: 'example.com', ports: [443] }],
	['bücher.example', { kind: 'name', host: 'xn--bcher-kva.example', ports: [80, 443] }],
	['localhost:3000', { kind: 'name', host: 'localhost', ports: [3000] }],
	['127.0.0.1:5432', { kind: 'address', host: '127.0.0.1', ports: [5432] }],
	['10.0.0.7', { kind: 'address', host: '10.0.0.7', ports: [80, 443] }],
	['::1', { kind: 'address', host: '::1', ports: [80, 443] }],
	['[::1]', { kind: 'address', host: '::1', ports: [80, 443] }],
	['[::1]:8080', { kind: 'address', host: '::1', ports: [8080] }],
	['2001:DB8::01', { kind: 'address', host: '2001:db8::1', ports: [80, 443] }],
	['[::ffff:10.0.0.1]:*', { kind: 'address', host: '10.0.0.1', ports: null }],
])('%s', (text, entry) => {
	expect(parseAllowList(text)).toEqual([entry]);
});

test('several stand behind one another', () => {
	expect(parseAllowList('a.example:1,[::1]:2,*.b.example').map(({ host }) => host)).toEqual([
		'a.example',
		'::1',
		'b.example',
	]);
});

test.each([
	['', '', /nothing between two commas/],
	['a.example,', '', /nothing between two commas/],
	['a.example,,b.example', '', /nothing between two commas/],
	['host,a.example', 'host', /stands alone/],
	['a.example,none', 'none', /stands alone/],
	['HOST:80', 'HOST:80', /stands alone/],
	['*', '*', /names no host/],
	['*:443', '*:443', /names no host/],
	['*.*.example', '*.*.example', /all names below/],
	['api.*.example', 'api.*.example', /all names below/],
	['*example.com', '*example.com', /all names below/],
	['*.', '*.', /all names below/],
	['*.127.0.0.1', '*.127.0.0.1', /all names below/],
	['.example.com', '.example.com', /write \*\.example\.com/],
	['https://example.com', 'https://example.com', /the host alone/],
	['example.com/path', 'example.com/path', /without a path/],
	['10.0.0.0/8', '10.0.0.0/8', /without a path or a range/],
	['user@example.com', 'user@example.com', /no host name/],
	['exa mple.com', 'exa mple.com', /no host name/],
	[' example.com', ' example.com', /no host name/],
	['example.com:', 'example.com:', /'' is no port/],
	['example.com:0', 'example.com:0', /'0' is no port/],
	['example.com:00443', 'example.com:00443', /'00443' is no port/],
	['example.com:65536', 'example.com:65536', /'65536' is no port/],
	['example.com:https', 'example.com:https', /'https' is no port/],
	['example.com:80:90', 'example.com:80:90', /in brackets/],
	['[::1', '[::1', /no host name/],
	['[::1]x', '[::1]x', /no host name/],
	['[fe80::1%eth0]', '[fe80::1%eth0]', /no host name/],
	['127.1', '127.1', /write it as 127\.0\.0\.1/],
	['2130706433', '2130706433', /write it as 127\.0\.0\.1/],
	['0x7f.1:80', '0x7f.1:80', /write it as 127\.0\.0\.1/],
	['010.0.0.1', '010.0.0.1', /write it as 8\.0\.0\.1/],
	['0.0.0.0', '0.0.0.0', /address of no host/],
	['[::]:80', '[::]:80', /address of no host/],
	['a\x1b[31mb', 'a\\x1b[31mb', /no host name/],
])('%j is refused, and %j is named', (text, entry, reason) => {
	const refusal = expect.objectContaining({ kind: 'usage', code: 'bad-net', message: expect.stringMatching(reason) });
	expect(() => parseAllowList(text)).toThrow(refusal);
	expect(() => parseAllowList(text)).toThrow(`--net '${entry}': `);
	expect(() => parseAllowList(text)).toThrow(Refusal);
});
