import { describe, expect, test } from 'vitest';
import { type EnvironmentRequest, sandboxEnvironment } from './environment.ts';

const OUTER = {
	PATH: '/bin',
	HOME: '/home/me',
	EDITOR: 'vi',
	SSH_AUTH_SOCK: '/run/ssh',
	DBUS_SESSION_BUS_ADDRESS: 'unix:',
	DISPLAY: ':0',
	WAYLAND_DISPLAY: 'w',
	XAUTHORITY: '/x',
	GPG_TTY: '/dev/pts/1',
	DROPCLOTH_KEY: 'secret',
	UNSET: undefined,
};

function environment(change: Partial<EnvironmentRequest> = {}) {
	return sandboxEnvironment({
		outer: OUTER,
		set: {},
		pass: [],
		clear: false,
		network: 'host',
		sessionId: 's',
		backend: 'kernel',
		socketPath: null,
		cwd: '/p',
		covers: ['/tmp', '/run'],
		...change,
	});
}

const OURS = { DROPCLOTH: '1', DROPCLOTH_SESSION: 's', DROPCLOTH_BACKEND: 'kernel', PWD: '/p' };

test('the environment is passed on but for what leads out, and tells that this is a sandbox', () => {
	expect(environment()).toEqual({ PATH: '/bin', HOME: '/home/me', EDITOR: 'vi', ...OURS });
});

test('--pass-env and --env bring in what is named', () => {
	expect(environment({ pass: ['DISPLAY', 'NOPE'], set: { EDITOR: 'ed', NEW: '' } })).toEqual({
		PATH: '/bin',
		HOME: '/home/me',
		EDITOR: 'ed',
		DISPLAY: ':0',
		NEW: '',
		...OURS,
	});
});

test('--clear-env leaves what programs cannot do without, and what is named', () => {
	expect(environment({ clear: true, pass: ['EDITOR'], set: { A: 'b' } })).toEqual({
		PATH: '/bin',
		HOME: '/home/me',
		EDITOR: 'vi',
		A: 'b',
		...OURS,
	});
});

test('what tells of the sandbox cannot be forged', () => {
	expect(environment({ set: { DROPCLOTH_SESSION: 'other' } })).toMatchObject(OURS);
	expect(environment({ outer: { ...OUTER, DROPCLOTH_SOCKET: '/evil' } })).not.toHaveProperty('DROPCLOTH_SOCKET');
	expect(environment({ socketPath: '/run/dropcloth.sock' })).toHaveProperty('DROPCLOTH_SOCKET', '/run/dropcloth.sock');
});

test('a directory for temporary files that is not there inside becomes /tmp', () => {
	const outer = { TMPDIR: '/run/user/1000/tmp', TEMP: '/data/tmp', TMP: '/tmp' };
	expect(environment({ outer })).toMatchObject({ TMPDIR: '/tmp', TEMP: '/data/tmp', TMP: '/tmp' });
});

describe('proxies', () => {
	const PROXIES = {
		http_proxy: 'http://outer',
		HTTPS_PROXY: 'http://outer',
		All_Proxy: 'http://outer',
		NO_PROXY: '*',
		npm_config_proxy: 'http://outer',
		npm_config_https_proxy: 'http://outer',
		'npm_config_https-proxy': 'http://outer',
		npm_config_noproxy: '*',
	};
	const outer = { PATH: '/bin', MY_PROXY_LIST: 'x', ...PROXIES };
	const OUR_PROXY = 'http://127.0.0.1:3128';
	const ours = (direct: string) => {
		const values = { HTTP_PROXY: OUR_PROXY, HTTPS_PROXY: OUR_PROXY, ALL_PROXY: OUR_PROXY, NO_PROXY: direct };
		return { ...values, http_proxy: OUR_PROXY, https_proxy: OUR_PROXY, all_proxy: OUR_PROXY, no_proxy: direct };
	};
	const allowed = (...hosts: string[]) => hosts.map((host) => ({ kind: 'name', host, ports: null }) as const);

	test('with the host’s network, the caller’s own', () => {
		expect(environment({ outer })).toEqual({ ...outer, ...OURS });
	});

	test('without network, none', () => {
		expect(environment({ outer, network: 'none' })).toEqual({ PATH: '/bin', MY_PROXY_LIST: 'x', ...OURS });
	});

	test('with some hosts, ours alone, also when the environment is cleared or theirs is passed on', () => {
		const expected = { PATH: '/bin', MY_PROXY_LIST: 'x', ...OURS, ...ours('localhost,127.0.0.1,::1') };
		const network = allowed('example.com');
		expect(environment({ outer, network })).toEqual(expected);
		expect(environment({ outer, network, clear: true })).toEqual({
			PATH: '/bin',
			...OURS,
			...ours('localhost,127.0.0.1,::1'),
		});
		expect(environment({ outer, network, pass: ['http_proxy'] })).toEqual(expected);
	});

	test('a loopback name that is allowed leads to the proxy', () => {
		expect(environment({ network: allowed('127.0.0.1', 'x.example') })).toMatchObject(ours('localhost,::1'));
		expect(environment({ network: allowed('::1', 'localhost') })).toMatchObject(ours('127.0.0.1'));
	});

	test('--env has the last word', () => {
		expect(environment({ network: allowed('a.example'), set: { NO_PROXY: '' } })).toMatchObject({
			NO_PROXY: '',
			no_proxy: 'localhost,127.0.0.1,::1',
		});
	});
});
