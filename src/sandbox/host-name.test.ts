import { expect, test } from 'vitest';
import { bracketed, parseHost, parsePort } from './host-name.ts';

test.each([
	['example.com', 'example.com'],
	['EXAMPLE.Com', 'example.com'],
	['example.com.', 'example.com'],
	['localhost', 'localhost'],
	['LOCALHOST.', 'localhost'],
	['my_service.internal', 'my_service.internal'],
	['bücher.example', 'xn--bcher-kva.example'],
	['BÜCHER.example', 'xn--bcher-kva.example'],
	['xn--bcher-kva.example', 'xn--bcher-kva.example'],
	['ｅxample。com', 'example.com'],
	['exam\u00adple.com', 'example.com'],
	['a'.repeat(63), 'a'.repeat(63)],
])('the name %s', (text, host) => {
	expect(parseHost(text)).toEqual({ kind: 'name', host });
});

test.each([
	['127.0.0.1', '127.0.0.1'],
	['127.0.0.1.', '127.0.0.1'],
	['127.1', '127.0.0.1'],
	['127.0.1', '127.0.0.1'],
	['2130706433', '127.0.0.1'],
	['0x7f.1', '127.0.0.1'],
	['0x7f000001', '127.0.0.1'],
	['0X7F.0x0.0X0.0x1', '127.0.0.1'],
	['0177.0.0.1', '127.0.0.1'],
	['017700000001', '127.0.0.1'],
	['127.0.0.01', '127.0.0.1'],
	['１２７.0.0.1', '127.0.0.1'],
	['①②⑦.0.0.1', '127.0.0.1'],
	['127。0。0。1', '127.0.0.1'],
	['0', '0.0.0.0'],
	['127.0.0.0x', '127.0.0.0'],
	['[::1]', '::1'],
	['[0:0:0:0:0:0:0:1]', '::1'],
	['[2001:DB8::0001]', '2001:db8::1'],
	['[::ffff:127.0.0.1]', '127.0.0.1'],
	['[::ffff:7f00:1]', '127.0.0.1'],
	['[0:0:0:0:0:FFFF:192.168.1.1]', '192.168.1.1'],
	['[::127.0.0.1]', '::7f00:1'],
	['[64:ff9b::127.0.0.1]', '64:ff9b::7f00:1'],
])('the address %s', (text, host) => {
	expect(parseHost(text)).toEqual({ kind: 'address', host });
});

test.each([
	'',
	'.',
	'..',
	'.example.com',
	'example..com',
	'example.com..',
	'a b',
	'a\tb',
	'a\nb',
	'a\0b',
	'user@example.com',
	'example.com:80',
	'example.com/path',
	'example.com?query',
	'example.com#part',
	'example.com\\path',
	'%65xample.com',
	'127.0.0.1%2f',
	'example.com%00',
	'[::1',
	'::1]',
	'::1',
	'[fe80::1%eth0]',
	'[fe80::1%25eth0]',
	'[::1]x',
	'[[::1]]',
	'[127.0.0.1]',
	'[]',
	'1.2.3.4.5',
	'256.0.0.1',
	'0x100000000',
	'1.example.1',
	'*',
	'*.example.com',
	'a,b',
	'a;b',
	"a'b",
	'xn--a',
	'a'.repeat(64),
	`${'a.'.repeat(126)}ab`,
	'\ud800.example',
])('%j is no host', (text) => {
	expect(parseHost(text)).toBeNull();
});

test('an IPv6 address stands in brackets before a port, nothing else does', () => {
	expect([bracketed('::1'), bracketed('127.0.0.1'), bracketed('example.com')]).toEqual([
		'[::1]',
		'127.0.0.1',
		'example.com',
	]);
});

test('a port is a plain number from 1 to 65535', () => {
	expect(['1', '80', '65535'].map(parsePort)).toEqual([1, 80, 65535]);
	const wrong = [
		'',
		'0',
		'00443',
		'080',
		'65536',
		'99999',
		'100000',
		'-1',
		'+1',
		'1e3',
		'0x50',
		'80 ',
		' 80',
		'80\n',
		'８０',
		'*',
	];
	expect(wrong.map(parsePort)).toEqual(wrong.map(() => null));
});
