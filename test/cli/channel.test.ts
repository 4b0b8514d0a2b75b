import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { placeInStore } from '../../src/session/session-place.ts';
import { accounts } from '../support/accounts.ts';
import type { Running } from '../support/built-program.ts';
import { fileAt } from '../support/file-at.ts';
import { LiveShell } from '../support/live-shell.ts';
import { type SessionRig, sessionRig } from '../support/session-rig.ts';

interface Row {
	readonly id: number;
	readonly trigger: string;
	readonly note: string | null;
	readonly run: number | null;
}

const rows = ({ cli }: SessionRig) => cli.json<{ snapshots: Row[] }>(['list', 'project']).snapshots;
const requested = (rig: SessionRig) => rows(rig).filter(({ trigger }) => trigger === 'request');

/** A shell script in which `dropcloth` is a function. */
const withDropcloth = ({ cli }: SessionRig, script: string) =>
	`dropcloth() { '${process.execPath}' '${cli.program}' "$@"; }; ${script}`;

/** What every hostile client below begins with. */
const CLIENT = `
import os, select, socket, sys, time
PATH = os.environ['DROPCLOTH_SOCKET']
def connect():
    while True:
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(20)
        try: s.connect(PATH)
        except BlockingIOError: time.sleep(0.01) # so many wait already
        else: return s
def answer(s):
    text = b''
    try:
        while True:
            part = s.recv(1000)
            if not part: break
            text += part
    except (ConnectionError, socket.timeout) as e: text += type(e).__name__.encode()
    s.close()
    return text.decode()
def ask(data):
    s = connect()
    try: s.sendall(data)
    except ConnectionError: pass
    return answer(s)
`;

const insidePython = (rig: SessionRig, program: string, ...flags: string[]) =>
	rig.cli.run(['quick', rig.project, ...flags, '--', '/usr/bin/python3', '-c', CLIENT + program]);

const startPython = (rig: SessionRig, program: string): Running =>
	rig.cli.start(['quick', rig.project, '--', '/usr/bin/python3', '-c', CLIENT + program]);

const memoryKiB = (pid: number) =>
	Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

describe.each(accounts())('as $name', (account) => {
	test('a label on a state that has none is a snapshot, even when nothing has changed; once it has one it is not', () => {
		using rig = sessionRig(account);
		const script = `echo 1 > f; dropcloth checkpoint; dropcloth checkpoint tested; dropcloth checkpoint tested; dropcloth checkpoint other`;
		const output = rig.inside(withDropcloth(rig, script));
		expect(output).toBe(
			"took snapshot 2\ntook snapshot 3 'tested'\nnothing has changed since snapshot 3\nnothing has changed since snapshot 3\n",
		);
		expect(requested(rig)).toMatchObject([
			{ id: 2, note: null },
			{ id: 3, note: 'tested' },
		]);
	});

	test('a checkpoint is a snapshot of its run with its label; without a change there is none', () => {
		using rig = sessionRig(account);
		rig.inside('echo 0 > f');
		const script = `echo 1 > f; dropcloth checkpoint --json 'it works: 100 %'; dropcloth checkpoint; echo 2 > f; dropcloth checkpoint; dropcloth checkpoint --json`;
		const output = rig.inside(withDropcloth(rig, script));
		const [first, , , last] = output.split(/(?<=^\})\n|(?<=\d)\n/m);
		expect(JSON.parse(first as string)).toEqual({
			sessionId: 'project',
			id: 3,
			label: 'it works: 100 %',
			taken: true,
		});
		expect(output).toContain('nothing has changed since snapshot 3\ntook snapshot 4\n');
		expect(JSON.parse(last as string)).toEqual({ sessionId: 'project', id: 4, label: null, taken: false });
		expect(requested(rig)).toMatchObject([
			{ id: 3, note: 'it works: 100 %', run: 2 },
			{ id: 4, note: null, run: 2 },
		]);
		expect(fileAt(rig.cli, 3, 'f')?.toString()).toBe('1\n');
		expect(rig.cli.run(['show', 'project', '3']).stdout).toContain('it works: 100 %');
	});

	test('the very first thing that a run does may be a checkpoint', () => {
		using rig = sessionRig(account);
		for (let round = 0; round < 3; round++) {
			const ran = rig.cli.run(['quick', rig.project, '--', process.execPath, rig.cli.program, 'checkpoint']);
			expect(ran).toMatchObject({ code: 0, stderr: '', stdout: 'nothing has changed since snapshot 1\n' });
		}
	});

	test('without a network, and with a store whose path is too long for a socket', () => {
		using rig = sessionRig(account);
		const env = { DROPCLOTH_HOME: join(rig.cli.account.home, 'd'.repeat(150)) };
		const script = withDropcloth(rig, 'echo 1 > f; dropcloth checkpoint');
		for (const flags of [['--net', 'none'], []]) {
			const ran = rig.cli.run(['quick', rig.project, ...flags, '--', 'sh', '-euc', `${script}; rm f`], { env });
			expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
			expect(ran.stdout).toMatch(/^took snapshot \d\n$/);
		}
	});

	test('a command that has joined asks for one as well', async () => {
		using rig = sessionRig(account);
		const first = await LiveShell.start(rig);
		await first.run('echo 1 > f');
		const ran = rig.cli.run(['run', 'project', '--', 'sh', '-euc', withDropcloth(rig, 'dropcloth checkpoint joined')]);
		expect(ran).toMatchObject({ code: 0, stderr: '', stdout: "took snapshot 2 'joined'\n" });
		await first.end();
	});

	test('a bind of all of /run does not take it away', () => {
		using rig = sessionRig(account);
		rig.sh('mkdir ../run');
		const script = withDropcloth(rig, 'echo $DROPCLOTH_SOCKET; dropcloth checkpoint');
		const bind = ['--ro-bind', `${join(rig.place, 'run')}:/run`];
		const ran = rig.cli.run(['quick', rig.project, ...bind, '--', 'sh', '-euc', script]);
		expect(ran, ran.stderr).toMatchObject({
			code: 0,
			stdout: '/dev/dropcloth.sock\nnothing has changed since snapshot 1\n',
		});
	});

	test('the socket cannot be changed, moved, removed or opened', async () => {
		using rig = sessionRig(account);
		const script = `for do in 'chmod 777 $s' 'rm -f $s' 'mv $s /run/x' 'echo x > $s' 'truncate -s 0 $s' 'touch $s' 'ln $s /run/y' 'umount $s' 'mv /run /r'; do
			eval "s=\\$DROPCLOTH_SOCKET; $do" 2>/dev/null && echo "done: $do"
		done; trap 'dropcloth checkpoint; exit' TERM; echo end; while :; do sleep 0.02; done`;
		const run = rig.cli.start(['quick', rig.project, '--', 'sh', '-uc', withDropcloth(rig, script)]);
		const { channelPath } = placeInStore(rig.cli.storePath, 'project');
		await run.said(/end/);
		expect(lstatSync(channelPath).mode).toBe(0o140600);
		run.kill('SIGTERM');
		expect(await run.ended).toMatchObject({ code: 0, stdout: 'end\nnothing has changed since snapshot 1\n' });
		expect(lstatSync(channelPath, { throwIfNoEntry: false })).toBeUndefined();
	});

	test.each(['exit', 'none'])('with --snapshots %s a checkpoint is refused', (policy) => {
		using rig = sessionRig(account);
		const script = withDropcloth(rig, 'echo 1 > f; dropcloth checkpoint');
		const ran = rig.cli.run(['quick', rig.project, '--snapshots', policy, '--', 'sh', '-uc', script]);
		expect(ran).toMatchObject({
			code: 1,
			stderr: `dropcloth: this run takes no checkpoints (--snapshots ${policy})\n`,
		});
		expect(requested(rig)).toEqual([]);
	});

	test('inside, snap of the own session is a checkpoint, and whatever needs the store says where it is', () => {
		using rig = sessionRig(account);
		const script = `echo 1 > f; dropcloth snap; echo 2 > f; dropcloth snap project before
			for command in ps list 'list project' 'diff other' 'undo --yes' 'snap other' 'quick .' 'init x' 'run -- true' 'stop'; do
				dropcloth $command 2>&1 || echo "$? $command"
			done
			dropcloth snap --note x; echo $?; dropcloth version >/dev/null; dropcloth help >/dev/null; echo end`;
		const ran = rig.cli.run(['quick', rig.project, '--', 'sh', '-uc', withDropcloth(rig, script)]);
		const refusal =
			"dropcloth: this is inside the sandbox of session 'project', where the store of sessions is hidden (in here, `dropcloth checkpoint` takes a snapshot; everything else is done outside)";
		const commands = ['ps', 'list', 'list project', 'diff other', 'undo --yes', 'snap other', 'quick .', 'init x'];
		expect(ran.stdout.split('\n')).toEqual([
			'took snapshot 2',
			"took snapshot 3 'before'",
			...[...commands, 'run -- true', 'stop'].flatMap((command) => [refusal, `1 ${command}`]),
			'2',
			'end',
			'',
		]);
		expect(ran.stderr).toContain('inside the sandbox this is `dropcloth checkpoint`, and the tag is a label');
		expect(requested(rig)).toMatchObject([{ note: null }, { note: 'before' }]);
	});

	test('outside, a checkpoint is refused, also when the environment says otherwise', () => {
		using rig = sessionRig(account);
		expect(rig.cli.run(['checkpoint'])).toMatchObject({
			code: 1,
			stderr: 'dropcloth: checkpoint works inside a session’s sandbox only (outside, use `dropcloth snap`)\n',
		});
		const env = { DROPCLOTH_SOCKET: join(rig.place, 'none.sock') };
		const ran = rig.cli.run(['checkpoint'], { env });
		expect(ran).toMatchObject({ code: 1, stdout: '' });
		expect(ran.stderr).toMatch(/^dropcloth: .*none\.sock.*`dropcloth snap`\)\n$/);
	});

	test('a label that could do something to a terminal is refused on both ends', () => {
		using rig = sessionRig(account);
		const script = withDropcloth(rig, `dropcloth checkpoint "$(printf 'a\\033[2Jb')"`);
		expect(rig.cli.run(['quick', rig.project, '--', 'sh', '-uc', script])).toMatchObject({
			code: 2,
			stderr: expect.stringMatching(/^dropcloth: 'a\\x1b\[2Jb' is no label: .*\n$/),
		});
	});

	test('hostile lines are refused, change nothing, and are followed by requests that are served', () => {
		using rig = sessionRig(account);
		const ran = insidePython(
			rig,
			`
open('f', 'w').write('1')
lines = [b'', b'\\n', b'restore 1\\n', b'undo\\n', b'stop\\n', b'{"verb":"stop"}\\n', b'checkpoint ../../etc\\x00\\n',
    b'checkpoint \\xff\\n', b'checkpoint \\x1b[2J\\n', b'checkpoint\\r\\n', b'checkpoint  \\n', b'x' * 100000, b'x' * 100000 + b'\\n',
    b'\\0' * 300, b'checkpoint ' + b'a' * 65 + b'\\n', b'checkpoint ' + b'a' * 188, b'GET / HTTP/1.1\\r\\n\\r\\n', os.urandom(150).replace(b'\\n', b'') + b'\\n']
for line in lines:
    s = connect()
    try:
        s.sendall(line)
        s.shutdown(socket.SHUT_WR)
    except (ConnectionError, OSError): pass
    text = answer(s)
    if text.startswith(('ok', 'unchanged', 'limited')) or '\\n' in text[:-1]: print('answered', line[:40], text)
s = connect()
for byte in b'checkpoint one by one\\n': s.sendall(bytes([byte]))
print(answer(s), end='')
s = connect()
s.sendall(b'checkpoint\\ncheckpoint x\\nrestore 1\\n' + b'y' * 50)
print(s.recv(1000).decode(), end='')
s.close()
s = connect()
s.sendall(b'checkpoint')
s.shutdown(socket.SHUT_WR)
print(repr(answer(s)))
`,
		);
		expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '', stdout: "ok 2\nunchanged 2\n''\n" });
		expect(requested(rig)).toMatchObject([{ note: 'one by one' }]);
	});

	test('ten thousand requests, half-open connections and endless lines do the owner and the history no harm', async () => {
		using rig = sessionRig(account);
		rig.inside('true');
		const run = startPython(
			rig,
			`
# answered when the owner has opened the session
ask(b'checkpoint\\n')
print('begun', flush=True)
def flood(n):
    for i in range(0, 1250, 25):
        open(f'f{n}', 'w').write(str(i))
        batch = []
        for k in range(25):
            s = socket.socket(socket.AF_UNIX)
            s.setblocking(False)
            try:
                s.connect(PATH)
                if k % 5 == 0: s.send(b'checkpoint flood\\n')
                elif k % 5 == 1: s.send(b'z' * 100000)
                elif k % 5 == 2: s.send(b'checkpoint half')
                elif k % 5 == 3: s.send(b'checkpoint flood\\n' * 1000)
            except (BlockingIOError, ConnectionError): pass
            batch.append(s)
        for s in batch: s.close()
pids = []
for n in range(8):
    pid = os.fork()
    if pid == 0:
        flood(n)
        os._exit(0)
    pids.append(pid)
kept = []
for _ in range(300):
    try: kept.append(connect())
    except (BlockingIOError, ConnectionError): pass
for pid in pids: assert os.waitpid(pid, 0)[1] == 0
print('flooded', flush=True)
endless = connect()
sent = 0
try:
    while sent < 200_000_000: sent += endless.send(b'x' * 1_000_000)
except ConnectionError: pass
assert sent < 10_000_000, sent
# every one that says nothing is let go
for s in kept: assert answer(s) in ('', 'ConnectionResetError'), 'kept'
open('last', 'w').write('1')
while True:
    text = ask(b'checkpoint the last\\n')
    if text.startswith('ok'): break
    assert text in ('', 'limited\\n', 'ConnectionResetError'), text
    time.sleep(0.05)
print('over', flush=True)
`,
		);
		await run.said(/begun/);
		const before = memoryKiB(run.pid);
		let flooded = false;
		const flood = run.said(/flooded/).finally(() => {
			flooded = true;
		});
		// others are answered all the while
		const states: string[] = [];
		while (!flooded) {
			const status = await rig.cli.start(['status', 'project', '--json']).ended;
			states.push(status.code === 0 ? JSON.parse(status.stdout).state : status.stderr);
		}
		expect(states.slice(states.indexOf('live')).filter((state) => state !== 'live')).toEqual([]);
		await flood;
		const taken = await rig.cli.start(['snap', 'project', 'mine']).ended;
		expect(taken, taken.stderr).toMatchObject({ code: 0 });
		await run.said(/over/);
		const after = memoryKiB(run.pid);
		const ran = await run.ended;
		expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
		expect(after - before, `${before} KiB, then ${after}`).toBeLessThan(64 * 1024);
		const seconds = 60;
		expect(requested(rig).length).toBeLessThan(5 + seconds);
		expect(requested(rig).at(-1)).toMatchObject({ note: 'the last' });
	});
});
