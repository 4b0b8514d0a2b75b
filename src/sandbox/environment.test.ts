import { expect, test } from 'vitest';
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
