import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accounts, type Ran } from '../support/accounts.ts';
import { argumentsOf, processTree } from '../support/process-tree.ts';
import { type SessionRig, sessionRig } from '../support/session-rig.ts';
import { until } from '../support/until.ts';

/** What the programs inside are written with; every call prints one line. */
const TOOLS = `
import os, socket, sys, urllib.error, urllib.request

def said(what, run):
    try: print(what, run(), flush=True)
    except urllib.error.HTTPError as error: print(what, error.code, error.read().decode().strip(), flush=True)
    except OSError as error: print(what, type(error).__name__, error.errno or error, flush=True)

# as any program does it that knows of proxies
def fetch(url): said(url, lambda: urllib.request.urlopen(url, timeout=20).read().decode())

def exchange(address, bytes, family=socket.AF_INET):
    with socket.socket(family) as s:
        s.settimeout(20)
        s.connect(address)
        s.sendall(bytes)
        got = b''
        while part := s.recv(65536): got += part
        return got.decode().strip().replace('\\r\\n', ' ')

def proxy(first, rest='Host: x\\r\\nConnection: close\\r\\n\\r\\n'):
    said(first, lambda: exchange(('127.0.0.1', 3128), (first + ' HTTP/1.1\\r\\n' + rest).encode()))

def tunnel(target):
    proxy('CONNECT ' + target, 'Host: x\\r\\n\\r\\nGET /tunnelled HTTP/1.1\\r\\nHost: y\\r\\nConnection: close\\r\\n\\r\\n')

def direct(host, port, family=socket.AF_INET):
    said('direct', lambda: exchange((host, port), b'', family))
`;

describe.each(accounts())('--net, as $name', (account) => {
	let rig: SessionRig;
	const servers: Server[] = [];
	const sockets = new Set<Socket>();
	/** Ports of servers of the host: on 127.0.0.1 and on ::1, each saying what it was asked. */
	let port: number;
	let port6: number;
	/** A name of the abstract namespace at which the host listens. */
	const abstract = `\0dropcloth-network-${process.pid}-${account.name}`;
	let reached = 0;

	beforeAll(async () => {
		rig = sessionRig(account);
		const web = () =>
			createHttpServer((request, response) => {
				reached++;
				response.end(`served ${request.url} for ${request.headers.host}`);
			});
		const listening = async (server: Server, where: { host: string; port: 0 } | { path: string }) => {
			server.on('connection', (socket) => {
				sockets.add(socket);
				socket.on('close', () => sockets.delete(socket));
			});
			server.listen(where);
			servers.push(server);
			await once(server, 'listening');
			return (server.address() as AddressInfo).port;
		};
		port = await listening(web(), { host: '127.0.0.1', port: 0 });
		port6 = await listening(web(), { host: '::1', port: 0 });
		await listening(createServer(), { path: abstract });
	});
	afterAll(() => {
		for (const server of servers.splice(0)) server.close();
		for (const socket of sockets) socket.destroy();
		rig[Symbol.dispose]();
	});
	beforeEach(() => {
		reached = 0;
	});

	const start = (net: string, script: string, env: Record<string, string> = {}) => {
		const args = ['quick', rig.project, '--net', net, '--', '/usr/bin/python3', '-c', `${TOOLS}${script}`];
		return rig.cli.start(args, { cwd: rig.project, env });
	};
	const python = async (net: string, script: string, env?: Record<string, string>): Promise<Ran> =>
		await start(net, script, env).ended;
	const lines = ({ stdout }: Ran) => stdout.trimEnd().split('\n');

	test.each(['a new session', 'one that is ready'])('a named host is reached, and nothing else: %s', async () => {
		const ran = await python(
			`127.0.0.1:${port},*.example.com`,
			`fetch('http://127.0.0.1:${port}/plain')
tunnel('127.0.0.1:${port}')
fetch('http://127.0.0.1:${port6}/')
fetch('http://other.example/')
tunnel('other.example:443')
tunnel('api.example.com:22')`,
		);
		const served = `for 127.0.0.1:${port}`;
		expect(lines(ran)).toEqual([
			`http://127.0.0.1:${port}/plain served /plain ${served}`,
			expect.stringMatching(
				/^CONNECT .* HTTP\/1\.1 200 Connection established {2}HTTP\/1\.1 200 OK .*served \/tunnelled for y$/,
			),
			expect.stringContaining(`403 127.0.0.1:${port6} is not allowed`),
			expect.stringContaining('403 other.example:80 is not allowed: run with --net ...,other.example to allow it'),
			expect.stringMatching(/ HTTP\/1\.1 403 Forbidden: other\.example:443 is not allowed/),
			expect.stringMatching(/ HTTP\/1\.1 403 Forbidden: api\.example\.com:22 is not allowed/),
		]);
		expect(ran.stderr.match(/^dropcloth: network: /gm)).toHaveLength(3);
		expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('network: other.example:80 is not allowed') });
		expect(reached).toBe(2);
	});

	test('IPv6, and localhost by name', async () => {
		const ran = await python(
			`[::1]:${port6},localhost:${port}`,
			`fetch('http://[::1]:${port6}/six'); fetch('http://localhost:${port}/four'); fetch('http://127.0.0.1:${port}/')`,
		);
		expect(lines(ran)).toEqual([
			`http://[::1]:${port6}/six served /six for [::1]:${port6}`,
			`http://localhost:${port}/four served /four for localhost:${port}`,
			// by that name it is the sandbox's own loopback, where nobody listens
			expect.stringMatching(/URLError .*refused/),
		]);
	});

	test('there is no way around the proxy', async () => {
		const own = Object.values(networkInterfaces())
			.flatMap((all) => all ?? [])
			.filter(({ internal, family }) => !internal && family === 'IPv4')
			.map(({ address }) => `direct('${address}', ${port})`);
		const ran = await python(
			'example.com',
			`direct('127.0.0.1', ${port})
direct('::1', ${port6}, socket.AF_INET6)
direct('192.0.2.1', 80)
direct('2001:db8::1', 80, socket.AF_INET6)
said('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53)))
said('abstract', lambda: exchange(${JSON.stringify(abstract)}, b'', socket.AF_UNIX))
said('raw', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
said('routes', lambda: open('/proc/net/route').readlines()[1:])
${own.join('\n')}`,
		);
		const [loopback, loopback6, outside, outside6, udp, unix, raw, routes, ...rest] = lines(ran);
		const unreachable = 'OSError 101';
		expect([loopback, loopback6]).toEqual(['direct ConnectionRefusedError 111', 'direct ConnectionRefusedError 111']);
		expect([outside, outside6, udp]).toEqual([`direct ${unreachable}`, `direct ${unreachable}`, `udp ${unreachable}`]);
		expect(unix).toMatch(/^abstract (PermissionError 1|ConnectionRefusedError 111)$/);
		expect(raw).toBe('raw PermissionError 1');
		expect(routes).toBe('routes []');
		expect(rest).toEqual(own.map(() => `direct ${unreachable}`));
		expect(reached).toBe(0);
	});

	test('the proxy is not talked into anything by another spelling', async () => {
		const ran = await python(
			'example.com',
			`for host in ['127.0.0.1', '127.1', '0x7f.1', '2130706433', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost', 'LOCALHOST.']:
    proxy('GET http://' + host + ':${port}/')
    tunnel(host + ':${port}')
for url in ['http://example.com@127.0.0.1:${port}/', 'http://127.0.0.1:${port}\\\\@example.com/', 'http://127.0.0.1:${port}#@example.com/', '/']:
    proxy('GET ' + url, 'Host: 127.0.0.1:${port}\\r\\nConnection: close\\r\\n\\r\\n')`,
		);
		const answers = lines(ran).map((line) => / HTTP\/1\.1 (\d+) /.exec(line)?.[1]);
		expect(answers).toEqual([...Array(18).fill('403'), ...Array(4).fill('400')]);
		expect(reached).toBe(0);
	});

	test('servers inside are reached directly, and the variables lead to the proxy', async () => {
		const outer = { HTTPS_PROXY: 'http://outer.example:1', npm_config_proxy: 'http://outer.example:2', no_proxy: '*' };
		const ran = await python(
			'example.com',
			`import http.server, threading
server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
server.RequestHandlerClass.log_message = lambda *_: None
threading.Thread(target=server.serve_forever, daemon=True).start()
for host in ['127.0.0.1', 'localhost']: said(host, lambda: urllib.request.urlopen(f'http://{host}:{server.server_port}/', timeout=20).status)
for name in sorted(os.environ):
    if 'proxy' in name.lower(): print(name, os.environ[name])`,
			outer,
		);
		const proxy = 'http://127.0.0.1:3128';
		expect(lines(ran)).toEqual([
			'127.0.0.1 200',
			'localhost 200',
			`ALL_PROXY ${proxy}`,
			`HTTPS_PROXY ${proxy}`,
			`HTTP_PROXY ${proxy}`,
			'NO_PROXY localhost,127.0.0.1,::1',
			`all_proxy ${proxy}`,
			`http_proxy ${proxy}`,
			`https_proxy ${proxy}`,
			'no_proxy localhost,127.0.0.1,::1',
		]);
	});

	test('without a network there is no proxy and no variable of one; with the host’s there are its own', async () => {
		const script = "print([name for name in os.environ if 'proxy' in name.lower()]); direct('127.0.0.1', 3128)";
		const outer = { HTTP_PROXY: 'http://127.0.0.1:9' };
		expect(lines(await python('none', script, outer))).toEqual(['[]', 'direct ConnectionRefusedError 111']);
		expect(lines(await python('host', script, outer))[0]).toBe("['HTTP_PROXY']");
	});

	test('when the owner is killed, its connections and everything inside are gone', async () => {
		const running = start(
			`127.0.0.1:${port}`,
			`s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(b'CONNECT 127.0.0.1:${port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')
print(s.recv(100).decode(), flush=True)
os.execvp('sleep', ['sleep', '1000000'])`,
		);
		await running.said(/200 Connection/);
		expect(sockets.size).toBe(1);
		const sleeping = () => processTree(running.pid).find((pid) => argumentsOf(pid)[0] === 'sleep');
		const inside = await until('the command sleeps', sleeping);
		running.kill('SIGKILL');
		await running.ended;
		await until('the connection is closed', () => sockets.size === 0);
		await until('the command is gone', () => argumentsOf(inside)[0] !== 'sleep');
		// the next run has its proxy again
		expect(lines(await python(`127.0.0.1:${port}`, `fetch('http://127.0.0.1:${port}/again')`))[0]).toContain(
			'served /again',
		);
	});

	test('an entry that is none is named, and nothing is made', async () => {
		const args = ['run', '--session', 'unmade', '--net', 'example.com,10.0.0.0/8', '--', 'true'];
		const ran = await rig.cli.start(args, { cwd: rig.project }).ended;
		expect(ran).toMatchObject({
			code: 2,
			stdout: '',
			stderr: expect.stringContaining("--net '10.0.0.0/8': give one host"),
		});
		expect(existsSync(`${rig.cli.storePath}/sessions/unmade`)).toBe(false);
	});
});
