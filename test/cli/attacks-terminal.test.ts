import { afterEach, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { sessionRig } from '../support/session-rig.ts';
import { Terminal } from '../support/terminal.ts';

/** What a command does to the terminal that it was given, in Python with `fd` the terminal; names by their numbers. */
const ATTACKS: readonly (readonly [name: string, program: string])[] = [
	['types into it', 'for c in b"echo INJECTED\\n": io(0x5412, bytes([c])); io(0x5412 | 1 << 32, b"x")'],
	['pastes into it', 'io(0x541c, bytes([3]) + bytes(9)); io(0x541c, bytes([2]) + bytes(20))'],
	['turns its echo and its signals off', 'os.system("stty -echo -isig -icanon intr undef eol x")'],
	['stops its output', 'io(0x540a, 0)'],
	['keeps others from opening it', 'io(0x540c, 0)'],
	['gives it another line discipline', 'io(0x5423, (27).to_bytes(4, "little"))'],
	['hangs it up', 'libc.vhangup()'],
	['takes it into a session of its own', 'os.setsid() if os.fork() == 0 else os.wait(); io(0x540e, 1)'],
	['lets a group that is gone have it', 'io(0x5410, (os.getpid()).to_bytes(4, "little")); os.kill(os.getpid(), 9)'],
];

const PROGRAM = `
import ctypes, os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
libc = ctypes.CDLL(None)
fd = os.open('/proc/self/fd/0', os.O_RDWR | os.O_NOCTTY)
def io(request, value): libc.ioctl(fd, ctypes.c_ulong(request), ctypes.c_long(value) if isinstance(value, int) else value)
`;

/** Tells the settings before and after, and what is read when everything is over. */
const OUTER =
	'before=$(stty -a); "$NODE" "$PROGRAM" quick "$PROJECT" -- python3 -c "$ATTACK"; stty sane < /dev/null 2>/dev/null; [ "$(stty -a)" = "$before" ] && echo same settings; : > /dev/tty && echo opened; echo ready; read -r typed; echo "typed <$typed>"';

describe.each(accounts())('as $name, the terminal is as it was after a command that', (account) => {
	let terminal: Terminal | undefined;
	afterEach(async () => {
		terminal?.kill();
		await terminal?.ended;
	});

	test.each(ATTACKS)('%s', async (_, program) => {
		using rig = sessionRig(account);
		const env = {
			...rig.cli.account.environment(),
			DROPCLOTH_HOME: rig.cli.storePath,
			NODE: process.execPath,
			PROGRAM: rig.cli.program,
			PROJECT: rig.project,
			ATTACK: PROGRAM + program,
		};
		terminal = new Terminal(account, ['sh', '-c', OUTER], env);
		await terminal.shown(/ready\n/);
		terminal.type('me\n');
		await terminal.shown(/typed <me>\n/);
		expect(terminal.text).toContain('same settings\nopened\nready\n');
		expect(terminal.text).not.toContain('INJECTED');
		await terminal.ended;
	});
});
