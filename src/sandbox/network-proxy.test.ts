import { once } from 'node:events';
import { Agent, createServer as createHttpServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../test/support/until.ts';
import { parseAllowList } from './allow-list.ts';
import { MOST_CONNECTIONS, NetworkProxy } from './network-proxy.ts';

/** Answers of the resolver, in turn; the last one for good. */
type Names = Readonly<Record<string, readonly (readonly string[])[]>>;

const open: { close(): void }[] = [];
afterEach(() => {
	for (const one of open.splice(0)) one.close();
});

async function listening(server: NetServer | Server, host = '127.0.0.1'): Promise<number> {
	server.listen(0, host);
	open.push(server);
	await once(server, 'listening');
	return (server.address() as AddressInfo).port;
}

/** A server that says what it was asked, and what arrived with it. */
async function echo(host?: string): Promise<{ port: number; seen: { request: IncomingMessage; body: string }[] }> {
	const seen: { request: IncomingMessage; body: string }[] = [];
	const server = createHttpServer(async (request, response) => {
		const body = await text(request);
		seen.push({ request, body });
		response.setHeader('X-From', 'upstream');
		response.end(`${request.method} ${request.url} ${request.headers.host} ${body}`);
	});
	return { port: await listening(server, host), seen };
}

interface Rig {
	readonly port: number;
	readonly told: string[];
	readonly lookups: string[];
	readonly proxy: NetworkProxy;
}

async function start(list: string, names: Names = {}, own: readonly string[] = []): Promise<Rig> {
	const told: string[] = [];
	const lookups: string[] = [];
	const turns = new Map(Object.entries(names).map(([name, answers]) => [name, [...answers]]));
	const proxy = new NetworkProxy({
		list: parseAllowList(list),
		notify: (line) => told.push(line),
		outside: {
			async addressesOf(name) {
				lookups.push(name);
				const answers = turns.get(name);
				if (answers === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
				return (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
			},
			isOwn: (address) => own.includes(address),
		},
	});
	open.push(proxy);
	proxy.server.listen(0, '127.0.0.1');
	await once(proxy.server, 'listening');
	return { port: (proxy.server.address() as AddressInfo).port, told, lookups, proxy };
}

/** Sends bytes and reads until the other end closes; ends its own side only when asked. */
async function raw(port: number, bytes: string | Buffer, { end = false } = {}): Promise<string> {
	const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
	open.push({ close: () => socket.destroy() });
	socket.write(bytes);
	if (end) socket.end();
	let said = '';
	socket.setEncoding('latin1').on('data', (part) => {
		said += part;
	});
	await new Promise<void>((resolve) => {
		socket.on('end', resolve);
		socket.on('error', () => resolve());
		socket.on('close', () => resolve());
	});
	socket.destroy();
	return said;
}

/** A request with `Connection: close`, whole. */
const get = (port: number, url: string, more = '') =>
	raw(port, `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`);
const ask = (port: number, authority: string) =>
	raw(port, `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);

describe('what is let through', () => {
	test('plain HTTP to a named address, the path to the byte, the Host of the URL', async () => {
		const { port, seen } = await echo();
		const rig = await start(`127.0.0.1:${port}`);
		const answer = await get(rig.port, `http://127.0.0.1:${port}/a/../b//%2e?q=%00&x=[1]`, 'X-More: 1\r\n');
		expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
		expect(answer).toContain('X-From: upstream');
		expect(answer).toContain(`GET /a/../b//%2e?q=%00&x=[1] 127.0.0.1:${port} `);
		expect(seen[0]?.request.headers['x-more']).toBe('1');
		expect(rig.told).toEqual([]);
	});

	test('CONNECT, bytes both ways, and each end passed on by itself', async () => {
		const server = createServer({ allowHalfOpen: true }, (socket) => {
			let all = '';
			socket.setEncoding('latin1').on('data', (part) => {
				all += part;
			});
			socket.on('end', () => socket.end(`got ${all}`));
		});
		const port = await listening(server);
		const rig = await start(`127.0.0.1:${port}`);
		// what is sent before the answer must not be lost
		const answer = await raw(rig.port, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: y\r\n\r\nearly bytes`, {
			end: true,
		});
		expect(answer).toBe('HTTP/1.1 200 Connection established\r\n\r\ngot early bytes');
	});

	test('a name, looked up once for each request, on the default ports or those named', async () => {
		const { port } = await echo();
		const rig = await start(`api.example:${port},127.0.0.1:${port}`, { 'api.example': [['127.0.0.1']] });
		for (const url of [`http://api.example:${port}/1`, `HTTP://API.Example.:${port}/2`]) {
			expect(await get(rig.port, url)).toContain(`api.example:${port}`);
		}
		expect(rig.lookups).toEqual(['api.example', 'api.example']);
	});

	test('localhost by its name, without asking anyone', async () => {
		const { port } = await echo();
		const rig = await start(`localhost:${port}`, { localhost: [['203.0.113.1']] });
		expect(await get(rig.port, `http://localhost:${port}/`)).toMatch(/^HTTP\/1\.1 200/);
		expect(rig.lookups).toEqual([]);
	});

	test('IPv6, in brackets', async () => {
		const { port } = await echo('::1');
		const rig = await start(`[::1]:${port}`);
		expect(await get(rig.port, `http://[0:0::1]:${port}/`)).toContain(`GET / [::1]:${port}`);
		expect(await ask(rig.port, '[::1]:1')).toMatch(/^HTTP\/1\.1 403/);
	});

	test('a body by length and in chunks, and several requests on one connection', async () => {
		const { port, seen } = await echo();
		const rig = await start(`127.0.0.1:${port}`);
		const head = `POST http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n`;
		const answers = await raw(
			rig.port,
			`${head}Content-Length: 5\r\n\r\nfirst${head}Transfer-Encoding: chunked\r\n\r\n6\r\nsecond\r\n0\r\n\r\n${head}Connection: close\r\n\r\n`,
		);
		expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
		expect(seen.map(({ body }) => body).sort()).toEqual(['', 'first', 'second']);
		const byBody = new Map(seen.map(({ body, request }) => [body, request.headers]));
		expect(byBody.get('first')).toMatchObject({ 'content-length': '5' });
		expect(byBody.get('second')).toMatchObject({ 'transfer-encoding': 'chunked' });
	});

	test('what is for the proxy alone is not passed on', async () => {
		const { port, seen } = await echo();
		const rig = await start(`127.0.0.1:${port}`);
		await get(
			rig.port,
			`http://127.0.0.1:${port}/`,
			'Connection: X-Named\r\nX-Named: 1\r\nProxy-Authorization: secret\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nUpgrade: websocket\r\nKeep-Alive: 5\r\n__proto__: kept\r\n',
		);
		const names = seen[0]?.request.rawHeaders.filter((_, index) => index % 2 === 0);
		expect(names).toEqual(['Host', '__proto__', 'Connection']);
	});

	test('megabytes either way, as fast as the slower side takes them', async () => {
		const size = 20 << 20;
		const server = createHttpServer((request, response) => void request.pipe(response));
		const port = await listening(server);
		const rig = await start(`127.0.0.1:${port}`);
		const sent = request({ port: rig.port, host: '127.0.0.1', method: 'POST', path: `http://127.0.0.1:${port}/` });
		sent.end(Buffer.alloc(size, 'x'));
		const [answer] = (await once(sent, 'response')) as [IncomingMessage];
		let length = 0;
		for await (const part of answer) length += (part as Buffer).length;
		expect(length).toBe(size);
	});
});

describe('what is refused', () => {
	test.each([
		['another host', 'http://other.example/', 'other.example:80 is not allowed'],
		['the name above a wildcard', 'http://wild.example/', 'wild.example:80 is not allowed'],
		['a name that only ends like one', 'http://notwild.example/', 'notwild.example:80 is not allowed'],
		['another port', 'http://good.example:8080/', 'good.example:8080 is not allowed'],
		['an address that is not named', 'http://8.8.8.8/', '8.8.8.8:80 is not allowed'],
		['a hexadecimal address', 'http://0x7f.1/', '127.0.0.1:80 is not allowed'],
		['a decimal address', 'http://2130706433/', '127.0.0.1:80 is not allowed'],
		['an octal address', 'http://0177.1/', '127.0.0.1:80 is not allowed'],
		['a mapped address', 'http://[::ffff:127.0.0.1]/', '127.0.0.1:80 is not allowed'],
		['a name that leads to a private address', 'http://private.example/', 'leads to 10.0.0.1, a private address'],
		['a name that leads to the loopback', 'http://loop.wild.example/', 'leads to 127.0.0.1, a loopback address'],
		[
			'a name that leads to a mapped address',
			'http://mapped.wild.example/',
			'leads to ::ffff:10.0.0.1, a private address',
		],
		['a name that leads to this machine', 'http://own.wild.example/', 'leads to 9.9.9.9, an address of this machine'],
		[
			'a name with nothing but refused addresses',
			'http://both.wild.example/',
			'leads to fe80::1, a link-local address',
		],
	])('%s', async (_name, url, reason) => {
		const names = {
			'private.example': [['10.0.0.1']],
			'loop.wild.example': [['127.0.0.1']],
			'mapped.wild.example': [['::ffff:10.0.0.1']],
			'own.wild.example': [['9.9.9.9']],
			'both.wild.example': [['fe80::1', '192.168.0.1']],
		};
		const rig = await start('good.example,private.example,*.wild.example', names, ['9.9.9.9']);
		const answer = await get(rig.port, url);
		expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden: .*--net \.\.\.,/);
		expect(answer.slice(answer.indexOf('\r\n\r\n'))).toContain(reason);
		const authority = url.slice('http://'.length, -1);
		const tunnel = await ask(rig.port, /:\d+$/.test(authority) ? authority : `${authority}:80`);
		expect(tunnel).toMatch(/^HTTP\/1\.1 403 Forbidden: /);
		expect(tunnel).toContain(reason);
		expect(rig.told).toEqual([expect.stringContaining(reason)]);
	});

	test.each([
		'/',
		'*',
		'good.example/',
		'//good.example/',
		'https://good.example/',
		'ftp://good.example/',
		'http://',
		'http:///path',
		'http:/good.example/',
		'http:\\\\good.example/',
		'http://good.example@evil.example/',
		'http://evil.example@good.example/',
		'http://good.example:80@evil.example/',
		'http://good.example\\@evil.example/',
		'http://good.example#@evil.example/',
		'http://evil.example#.good.example/',
		'http://%67ood.example/',
		'http://good.example%2f@evil.example/',
		'http://good.example%00.evil.example/',
		'http://good.example:/',
		'http://good.example:00080/',
		'http://good.example:0/',
		'http://good.example:65616/',
		'http://good.example:80:80/',
		'http://[fe80::1%25lo]/',
		'http://good.example../',
		'http://.good.example/',
		'http://good.example/#part',
	])('a URL that can be read in two ways, or is none: %s', async (url) => {
		const rig = await start('good.example', { 'good.example': [['8.8.8.8']] });
		expect(await get(rig.port, url)).toMatch(/^HTTP\/1\.1 400 /);
		expect([rig.lookups, rig.told]).toEqual([[], []]);
	});

	test.each([
		'good.example',
		'good.example:',
		'good.example:0',
		'good.example:00443',
		'good.example:443x',
		'good.example:65979',
		'http://good.example:443',
		'good.example:443/',
		'user@good.example:443',
		'good.example:443@evil.example:443',
		'%67ood.example:443',
		'good.example%00:443',
		'::1:443',
		'[::1]',
		'[::1%lo]:443',
		':443',
	])('a CONNECT to what is no host and port: %s', async (authority) => {
		const rig = await start('good.example', { 'good.example': [['8.8.8.8']] });
		expect(await ask(rig.port, authority)).toMatch(/^HTTP\/1\.1 400 /);
		expect([rig.lookups, rig.told]).toEqual([[], []]);
	});

	test('the second request of a connection like the first', async () => {
		const { port } = await echo();
		const rig = await start(`127.0.0.1:${port}`);
		const first = `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`;
		const second = `GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`;
		const answers = await raw(rig.port, first + second);
		expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403']);
	});

	test('a Host header decides nothing', async () => {
		const { port, seen } = await echo();
		const rig = await start(`127.0.0.1:${port}`);
		await raw(rig.port, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`);
		expect(seen[0]?.request.headers.host).toBe(`127.0.0.1:${port}`);
		const refused = await raw(
			rig.port,
			`GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`,
		);
		expect(refused).toMatch(/^HTTP\/1\.1 403/);
	});

	test('an answer that changes after it was judged: the connection goes where the judged one led', async () => {
		const { port, seen } = await echo();
		const rebinding = [['127.0.0.1'], ['10.0.0.1']];
		const rig = await start(`evil.example:${port},127.0.0.1:${port}`, { 'evil.example': rebinding });
		expect(await get(rig.port, `http://evil.example:${port}/`)).toMatch(/^HTTP\/1\.1 200/);
		expect(await get(rig.port, `http://evil.example:${port}/`)).toMatch(/^HTTP\/1\.1 403 .*10\.0\.0\.1/);
		expect([seen.length, rig.lookups.length]).toEqual([1, 2]);
	});

	test('a request with a long body gets its answer whole, and the connection goes on', async () => {
		const { port } = await echo();
		const rig = await start(`127.0.0.1:${port},127.0.0.1:1`);
		const agent = new Agent({ keepAlive: true, maxSockets: 1 });
		open.push({ close: () => agent.destroy() });
		const post = async (url: string) => {
			const sent = request({ port: rig.port, host: '127.0.0.1', method: 'POST', path: url, agent });
			sent.end(Buffer.alloc(4 << 20, 'x'));
			const [answer] = (await once(sent, 'response')) as [IncomingMessage];
			const body = await text(answer);
			return [answer.statusCode, body.slice(0, 30), sent.socket?.localPort] as const;
		};
		const refused = await post('http://other.example/');
		const unreachable = await post('http://127.0.0.1:1/');
		const served = await post(`http://127.0.0.1:${port}/`);
		expect([refused[0], unreachable[0], served[0]]).toEqual([403, 502, 200]);
		expect(new Set([refused[2], unreachable[2], served[2]]).size).toBe(1);
		expect(refused[1]).toContain('other.example:80 is not');
	});

	test('a private address among public ones is not connected to', async () => {
		const { port, seen } = await echo();
		// the allowed one is an address that nobody listens at; the other has a server on that port
		const names = { 'mixed.example': [['127.0.0.1', '127.0.0.9']] };
		const rig = await start(`mixed.example:${port},127.0.0.9:${port}`, names);
		expect(await get(rig.port, `http://mixed.example:${port}/`)).toMatch(/^HTTP\/1\.1 502 .*ECONNREFUSED/);
		expect(seen).toEqual([]);
	});

	test('each host is told of once, and not without end', async () => {
		const rig = await start('good.example');
		for (let host = 0; host < 30; host++) {
			await ask(rig.port, `evil${host}.example:443`);
			await ask(rig.port, `evil${host}.example:80`);
		}
		expect(rig.told).toHaveLength(21);
		expect(rig.told[0]).toBe('network: evil0.example:443 is not allowed: run with --net ...,evil0.example to allow it');
		expect(rig.told[20]).toBe('network: further hosts were refused');
	});
});

describe('requests made to be read in two ways', () => {
	test.each([
		['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
		['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
		['another coding', 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
		['chunks that are not last', 'Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n'],
		['a coding with a tab before the colon', 'Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n'],
		['a bare line feed', 'X: y\nContent-Length: 5\r\n\r\nhello'],
		['a folded line', 'X: y\r\n Content-Length: 5\r\n\r\nhello'],
		['a length with a sign', 'Content-Length: +5\r\n\r\nhello'],
		['a chunk size with rubbish', 'Transfer-Encoding: chunked\r\n\r\n5x\r\nhello\r\n0\r\n\r\n'],
		['a NUL in a header', 'X: \0\r\n\r\n'],
		['a header without end', `X: ${'y'.repeat(40_000)}\r\n\r\n`],
	])('%s reach nobody', async (_name, rest) => {
		const { port, seen } = await echo();
		const rig = await start(`127.0.0.1:${port}`);
		const answer = await raw(
			rig.port,
			`POST http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${rest}`,
		);
		expect(answer).not.toMatch(/^HTTP\/1\.1 200/);
		expect(seen.filter(({ body }) => body !== '')).toEqual([]);
	});

	test('a length that Connection names is kept', async () => {
		const { port, seen } = await echo();
		const rig = await start(`127.0.0.1:${port}`);
		const smuggled = 'GET /second HTTP/1.1\r\nHost: internal\r\n\r\n';
		await get(
			rig.port,
			`http://127.0.0.1:${port}/`,
			`Connection: Content-Length\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
		);
		expect(seen.map(({ request, body }) => [request.url, body])).toEqual([['/', smuggled]]);
	});
});

describe('servers that fail', () => {
	const answering = (bytes: string) =>
		listening(
			createServer((socket) => {
				socket.on('error', () => {});
				socket.once('data', () => socket.end(bytes));
			}),
		);

	test.each([
		['nothing', '', 502],
		['no HTTP', 'hello\r\n\r\n', 502],
		['a status that is none', 'HTTP/1.1 099 x\r\n\r\n', 502],
		['a protocol that nobody asked for', 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n', 502],
		['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx', 502],
		['headers without end', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(80_000)}\r\n\r\n`, 502],
	])('%s is an error said in a line', async (_name, bytes, status) => {
		const port = await answering(bytes);
		const rig = await start(`127.0.0.1:${port}`);
		const answer = await get(rig.port, `http://127.0.0.1:${port}/`);
		expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*127\\.0\\.0\\.1:${port} gave no answer`));
	});

	test('an answer that is cut off is cut off inside too', async () => {
		const port = await answering('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
		const rig = await start(`127.0.0.1:${port}`);
		const answer = await get(rig.port, `http://127.0.0.1:${port}/`);
		expect(answer).toContain('hello');
		expect(answer).not.toMatch(/0\r\n\r\n$/);
	});

	test('a name without address, and a port where nobody listens', async () => {
		const rig = await start('gone.example,127.0.0.1:1', {});
		expect(await get(rig.port, 'http://gone.example/')).toMatch(
			/^HTTP\/1\.1 502 .*gone\.example has no address \(ENOTFOUND\)/,
		);
		expect(await ask(rig.port, '127.0.0.1:1')).toMatch(
			/^HTTP\/1\.1 502 .*127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/,
		);
		expect(rig.told).toEqual([]);
	});
});

describe('floods', () => {
	test('more connections than there may be are closed, and the next request is answered', async () => {
		const { port } = await echo();
		const rig = await start(`127.0.0.1:${port}`);
		const sockets = Array.from({ length: MOST_CONNECTIONS + 50 }, () => connect({ port: rig.port, host: '127.0.0.1' }));
		open.push({ close: () => sockets.forEach((socket) => void socket.destroy()) });
		let closed = 0;
		for (const socket of sockets) {
			socket.on('error', () => {});
			socket.once('close', () => closed++);
		}
		await until('the surplus is closed', () => closed === 50);
		for (const socket of sockets) socket.destroy();
		await until('they are gone', () => closed === sockets.length);
		const answered = () => get(rig.port, `http://127.0.0.1:${port}/`);
		expect(await answered()).toMatch(/^HTTP\/1\.1 200/);
	});

	test('requests without end on one connection close it', async () => {
		const connections: Socket[] = [];
		const port = await listening(createServer((socket) => void connections.push(socket)));
		const rig = await start(`127.0.0.1:${port}`);
		const one = `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`;
		expect(await raw(rig.port, one.repeat(1000))).toBe('');
		expect(connections.length).toBeLessThanOrEqual(32);
		for (const socket of connections) socket.destroy();
	});

	test('a client that goes away takes its connection beyond with it', async () => {
		let ended = 0;
		const server = createServer((socket) => {
			socket.on('error', () => {});
			socket.on('close', () => ended++);
			socket.resume();
		});
		const port = await listening(server);
		const rig = await start(`127.0.0.1:${port}`);
		const heads = [
			`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\n`,
			`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`,
		];
		for (const head of heads) {
			const connected = once(server, 'connection');
			const client = connect({ port: rig.port, host: '127.0.0.1' });
			client.write(head);
			await connected;
			client.resetAndDestroy();
		}
		await until('both are closed', () => ended === 2);
	});

	test('when it is closed, nothing is left of it', async () => {
		let ended = 0;
		const server = createServer((socket) => {
			socket.on('error', () => {});
			socket.on('close', () => ended++);
		});
		const port = await listening(server);
		const rig = await start(`127.0.0.1:${port}`);
		const client = connect({ port: rig.port, host: '127.0.0.1' });
		const gone = once(client, 'close');
		client.on('error', () => {});
		client.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);
		await once(client, 'data');
		rig.proxy.close();
		await gone;
		await until('the connection beyond is closed', () => ended === 1);
	});
});
