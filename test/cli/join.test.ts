import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { takeLiveSnapshot } from '../../src/session/live-snapshot.ts';
import { Session } from '../../src/session/session.ts';
import { placeInStore } from '../../src/session/session-place.ts';
import { type Run, Runs } from '../../src/store/runs.ts';
import { accounts } from '../support/accounts.ts';
import type { Running } from '../support/built-program.ts';
import { fileAt } from '../support/file-at.ts';
import { LiveShell } from '../support/live-shell.ts';
import { outerShell } from '../support/outer-shell.ts';
import { type SessionRig, sessionRig } from '../support/session-rig.ts';
import { until } from '../support/until.ts';

const CTRL_C = '\x03';
const CTRL_Z = '\x1a';

/** Waits in the shell until the file is there. */
const awaiting = (file: string) => `until [ -e ${file} ]; do sleep 0.01; done`;

/** A command that joins the session of the project and goes on. */
function startJoined(rig: SessionRig, script: string, ...flags: string[]): Running {
	return rig.cli.start(['run', 'project', ...flags, '--', 'sh', '-uc', script], { cwd: rig.project });
}

/** Takes a snapshot of the live session by its owner, as `snap` does; null when it is not live. */
function takeLive({ cli }: SessionRig) {
	return takeLiveSnapshot(placeInStore(cli.storePath, 'project'), { tag: null, note: null, force: false });
}

function runs({ cli }: SessionRig): Run[] {
	const session = Session.openToRead(placeInStore(cli.storePath, 'project'));
	try {
		return new Runs(session.store).list();
	} finally {
		session.close();
	}
}

function joined({ cli }: SessionRig): { argv: string[]; pid: number; run: number }[] {
	const { sandbox } = cli.json<{ sandbox: { joined: [] } | null }>(['status', 'project']);
	return sandbox?.joined ?? [];
}

describe.each(accounts())('as $name', (account) => {
	test('a second run sees what the first does at once, and the other way round', async () => {
		using rig = sessionRig(account);
		rig.sh('mkdir sub; echo base > f');
		const first = await LiveShell.start(rig);
		await first.run('echo 1 > f; echo secret > /tmp/private; cd sub');
		const at = { cwd: join(rig.project, 'sub') };
		const script =
			'cat ../f /tmp/private; pwd; echo $DROPCLOTH_SESSION $MINE; ls /proc | grep -c "^1$"; echo 2 > ../g; exit 7';
		const ran = rig.cli.run(['run', 'project', '--', 'sh', '-c', script], { ...at, env: { MINE: 'mine' } });
		expect(ran).toMatchObject({
			code: 7,
			stderr: '',
			stdout: `1\nsecret\n${rig.project}/sub\nproject mine\n1\n`,
		});
		expect(await first.run('cat ../g')).toBe('2\n');
		expect(rig.cli.run(['quick', rig.project, '--', 'cat', 'f']).stdout).toBe('1\n');
		const answer = JSON.parse(rig.cli.run(['run', 'project', '--json', '--', 'true']).stdout);
		expect(answer).toEqual({ sessionId: 'project', exit: 0, run: 4, snapshot: null, changed: null, joined: true });
		expect(await first.end()).toEqual({ code: 0, stderr: '' });
		expect(runs(rig).map(({ exit, signal, cwd }) => ({ exit, signal, cwd }))).toEqual([
			{ exit: 0, signal: null, cwd: rig.project },
			{ exit: 7, signal: null, cwd: join(rig.project, 'sub') },
			{ exit: 0, signal: null, cwd: rig.project },
			{ exit: 0, signal: null, cwd: rig.project },
		]);
		expect(rig.cli.json(['run', 'project', '--', 'true'])).toMatchObject({ exit: 0, joined: false });
	});

	test('a directory that is not there inside, or lies outside the project, is the project’s root', async () => {
		using rig = sessionRig(account);
		rig.sh('mkdir gone');
		const first = await LiveShell.start(rig);
		await first.run('rmdir gone');
		for (const cwd of [join(rig.project, 'gone'), rig.cli.account.home]) {
			expect(rig.cli.run(['run', 'project', '--', 'pwd'], { cwd })).toMatchObject({
				code: 0,
				stdout: `${rig.project}\n`,
			});
		}
		await first.end();
	});

	test('the first waits for the others, says so once, and ends with its own code; status and ps name them', async () => {
		using rig = sessionRig(account);
		const first = rig.cli.start(['quick', rig.project, '--', 'sh', '-uc', `echo begun; ${awaiting('go')}; exit 3`]);
		await first.said(/begun/);
		const script = `echo joined; ${awaiting('on')}; echo late > late; exit 5`;
		const second = startJoined(rig, script);
		await second.said(/joined/);
		expect(joined(rig)).toMatchObject([{ argv: ['sh', '-uc', script], pid: second.pid, run: 2 }]);
		expect(rig.cli.json(['ps'])).toMatchObject([{ joined: [{ run: 2 }] }]);
		expect(rig.cli.run(['status', 'project']).stdout).toMatch(/^joined +run 2: process \d+ runs sh -uc echo joined/m);
		expect(rig.cli.run(['run', 'project', '--', 'touch', 'go']).code).toBe(0);
		// the one that made the file may not be gone yet
		await first.said(/the command has ended; [12] joined commands? still runs? in session project/);
		expect(rig.cli.json(['snap', 'project', 'between'])).toMatchObject({ tag: 'between' });
		expect(rig.cli.run(['run', 'project', '--', 'touch', 'on']).code).toBe(0);
		expect((await second.ended).code).toBe(5);
		const ended = await first.ended;
		expect(ended.code).toBe(3);
		expect(ended.stderr.split('\n')).toHaveLength(2);
		expect(fileAt(rig.cli, 'now', 'late')?.toString()).toBe('late\n');
		expect(runs(rig).map(({ exit }) => exit)).toEqual([3, 5, 0, 0]);
	});

	test('stop ends what has joined too', async () => {
		using rig = sessionRig(account);
		const first = rig.cli.start(['quick', rig.project, '--', 'sh', '-uc', 'echo begun; while :; do sleep 0.01; done']);
		await first.said(/begun/);
		const second = startJoined(rig, 'trap "echo bye > bye; exit 9" TERM; echo joined; while :; do sleep 0.01; done');
		await second.said(/joined/);
		expect(rig.cli.run(['stop', 'project'])).toMatchObject({ code: 0, stdout: 'stopped session project\n' });
		expect((await second.ended).code).toBe(9);
		expect((await first.ended).code).toBe(143);
		expect(fileAt(rig.cli, 'now', 'bye')?.toString()).toBe('bye\n');
		expect(runs(rig).map(({ exit, signal }) => exit ?? signal)).toEqual([15, 9]);
	});

	test('kill -9 of who joined ends its command alone, and its end is noticed', async () => {
		using rig = sessionRig(account);
		const first = await LiveShell.start(rig);
		const second = startJoined(rig, 'while :; do echo x >> growing; echo joined; sleep 0.01; done');
		await second.said(/joined/);
		second.kill('SIGKILL');
		await second.ended;
		await until('the owner has noticed', () => joined(rig).length === 0);
		await first.run('a=0; while b=$(wc -c < growing); [ $a != $b ]; do a=$b; sleep 0.1; done');
		expect(await first.end()).toEqual({ code: 0, stderr: '' });
		expect(runs(rig)[1]).toMatchObject({ exit: null, signal: null });
		expect(runs(rig)[1]?.ended).not.toBeNull();
	});

	test('kill -9 of the owner ends what has joined with 137', async () => {
		using rig = sessionRig(account);
		const first = await LiveShell.start(rig);
		const second = startJoined(rig, 'echo joined; while :; do sleep 0.01; done');
		await second.said(/joined/);
		first.kill('SIGKILL');
		expect((await second.ended).code).toBe(137);
		await first.ended;
		expect(rig.cli.run(['quick', rig.project, '--', 'true'])).toMatchObject({ code: 0 });
	});

	test('--timeout of who joined ends its command alone', async () => {
		using rig = sessionRig(account);
		const first = await LiveShell.start(rig);
		const ran = rig.cli.run(['run', 'project', '--timeout', '1s', '--', 'sleep', '100']);
		expect(ran.code, ran.stderr).toBe(124);
		expect(await first.run('echo on')).toBe('on\n');
		expect((await first.end()).code).toBe(0);
	});

	test('flags that make another sandbox are refused by name, what is left out is inherited', async () => {
		using rig = sessionRig(account);
		const first = await LiveShell.start(rig, ['--net', 'none', '--mask', join(rig.project, 'a')]);
		const refused = rig.cli.run([
			'run',
			'project',
			'--net',
			'host',
			'--snapshots=exit',
			'--quiet=3s',
			'--on-exit',
			'apply',
			'--',
			'true',
		]);
		expect(refused).toMatchObject({ code: 2, stdout: '' });
		expect(refused.stderr).toContain(
			'--snapshots exit (it has all), --quiet 3000ms (it has 2000ms), --net host (it has none), --on-exit apply (it has keep)',
		);
		const same = ['--net', 'none', '--mask', './a', '--reads', 'home', '--mount-backend', 'auto', '--show-binds'];
		const ran = rig.cli.run(['run', 'project', ...same, '--', 'readlink', '/proc/self/ns/net'], { cwd: rig.project });
		expect(ran.code, ran.stderr).toBe(0);
		expect(ran.stderr).toMatch(/^joins session project: process \d+ runs sh in it; /);
		expect(ran.stdout).toBe(await first.run('readlink /proc/self/ns/net'));
		await first.end();
	});

	test('--new never joins', async () => {
		using rig = sessionRig(account);
		const first = await LiveShell.start(rig);
		await first.run('echo 1 > f');
		const ran = rig.cli.run(['run', '--new', '--', 'sh', '-c', 'ls; echo $DROPCLOTH_SESSION'], { cwd: rig.project });
		expect(ran).toMatchObject({ code: 0, stdout: 'project-2\n' });
		await first.end();
	});

	test('commands that come and go while the first ends all succeed', async () => {
		using rig = sessionRig(account);
		for (let round = 0; round < 5; round++) {
			const all = ['true', 'true', 'true'].map((command) =>
				rig.cli.start(['quick', rig.project, '--', command], { cwd: rig.project }),
			);
			for (const ran of await Promise.all(all.map(({ ended }) => ended))) {
				expect(ran.code, ran.stderr).toBe(0);
			}
		}
	});

	describe('on a terminal', () => {
		test('a joined shell has job control and the window’s size, and gives the terminal back', async () => {
			using rig = sessionRig(account);
			const first = await LiveShell.start(rig);
			const shell = await outerShell(rig);
			try {
				shell.type(`dropcloth run project --env PS1='IN> ' -- bash --norc --noprofile --noediting -i\n`);
				await shell.shown(/^IN> /m);
				shell.type('stty size\n');
				await shell.shown(/33 99\n(.*\n)*IN> /);
				shell.resize();
				shell.type('stty size\n');
				await shell.shown(/44 111\n(.*\n)*IN> /);
				shell.type('sleep 1000\n');
				await first.run("until grep -qa 'slee[p].1000' /proc/*/cmdline; do sleep 0.01; done");
				shell.type(CTRL_Z);
				await shell.shown(/Stopped.*\n(.*\n)*IN> /);
				shell.type('fg\n');
				await shell.shown(/fg\nsleep 1000\n/);
				// bash says what it continues before it gives it the terminal
				await first.run(
					`until awk '$2 == "(sleep)" && $5 == $8 { n = 1 } END { exit !n }' /proc/[0-9]*/stat; do sleep 0.01; done`,
				);
				shell.type(CTRL_C);
				await shell.shown(/IN> /);
				shell.type('echo $((40 + 2)); suspend -f\n');
				await shell.shown(/42\n(.*\n)*.*Stopped.*\n(.*\n)*OUT> /);
				shell.type('fg\n');
				await shell.shown(/fg\n.*\n/);
				shell.type('echo again $((50 + 5))\n');
				await shell.shown(/again 55\n/);
				shell.type('exit 6\n');
				await shell.shown(/OUT> /);
				shell.type('echo "code $?"\n');
				await shell.shown(/^code 6\n(.*\n)*OUT> /m);
				shell.type('echo still $((40 + 2))\n');
				await shell.shown(/still 42\n(.*\n)*OUT> /);
			} finally {
				shell.kill();
			}
			await shell.ended;
			await first.end();
		});

		test('Ctrl-C ends a joined command, and Ctrl-C while the first waits ends what has joined', async () => {
			using rig = sessionRig(account);
			const shell = await outerShell(rig);
			try {
				shell.type(`dropcloth quick . -- sh -c 'echo ready; ${awaiting('go')}'; echo "code $?"\n`);
				await shell.shown(/^ready\n/m);
				const second = startJoined(rig, 'echo joined; touch go; exec sleep 1000');
				await second.said(/joined/);
				await shell.shown(/the command has ended; 1 joined command still runs/);
				shell.type(CTRL_C);
				await shell.shown(/OUT> /);
				expect((await second.ended).code).toBe(143);
			} finally {
				shell.kill();
			}
			await shell.ended;
		});

		test('fifty snapshots do not disturb the job of a joined shell', async () => {
			using rig = sessionRig(account);
			const first = await LiveShell.start(rig);
			const shell = await outerShell(rig);
			try {
				shell.type(`dropcloth run project --env PS1='IN> ' -- bash --norc --noprofile --noediting -i\n`);
				await shell.shown(/^IN> /m);
				shell.type('while [ ! -e over ]; do sh -c "printf x >>progress"; done; echo all $((40 + 2))\n');
				await first.run(awaiting('progress'));
				for (let round = 0; round < 50; round++) expect(await takeLive(rig)).not.toBeNull();
				await first.run('touch over');
				expect(await shell.shown(/all 42\n/)).not.toMatch(/stopped/i);
				shell.type('exit\n');
				await shell.shown(/OUT> /);
			} finally {
				shell.kill();
			}
			await shell.ended;
			await first.end();
		});
	});
});
