import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { fileAt } from '../support/file-at.ts';
import {
	DATABASE,
	endOf,
	expectLockstep,
	expectSoundDatabases,
	LOCKSTEP,
	lockstepPairs,
	MAPPED,
	mappedPairs,
	snapshots,
	startPython,
	UNNAMED_LOCKSTEP,
	UNNAMED_MAPPED,
} from '../support/moments.ts';
import { outerShell } from '../support/outer-shell.ts';
import { sessionRig } from '../support/session-rig.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const CTRL_C = '\x03';
const CTRL_Z = '\x1a';

describe.each(accounts())('as $name', (account) => {
	test('thirty snapshots of two files that are written in turn each hold them as they were at one moment', async () => {
		using rig = sessionRig(account);
		const run = startPython(rig, LOCKSTEP);
		await run.said(/begun/);
		const ids = await snapshots(rig, 30);
		const last = await endOf(run);
		const pairs = lockstepPairs(rig, ids);
		expectLockstep(pairs);
		expect(pairs.at(-1)).toEqual([last, last]);
	});

	test.each(['on a disk', 'on a tmpfs'])(
		'a file that is written through a mapping is right in every snapshot and at the end, with the store %s',
		async (where) => {
			using rig = sessionRig(account);
			using store = temporaryDirectory('/dev/shm');
			account.own(store.path);
			const env = where === 'on a disk' ? {} : { DROPCLOTH_HOME: join(store.path, 'store') };
			const run = rig.cli.start(['quick', rig.project, '--', '/usr/bin/python3', '-c', MAPPED], { env });
			await run.said(/begun/);
			const there =
				where === 'on a disk' ? rig : { ...rig, cli: { ...rig.cli, storePath: env.DROPCLOTH_HOME as string } };
			const ids = await snapshots(there, 15);
			const last = await endOf(run);
			const pairs = mappedPairs(there, ids);
			expectLockstep(pairs);
			expect(pairs.at(-1)).toEqual([last, last]);
		},
	);

	test('files that are written by names they no longer have are right in every snapshot and at the end', async () => {
		using rig = sessionRig(account);
		// a copy of the base's has the number of the base's inode to those inside
		rig.sh('echo base > a; echo base > f');
		for (const [program, pairsOf] of [
			[UNNAMED_LOCKSTEP, (ids: number[]) => lockstepPairs(rig, ids, ['other/a', 'other/b'])],
			[UNNAMED_MAPPED, (ids: number[]) => mappedPairs(rig, ids, 'other/f')],
		] as const) {
			const run = startPython(rig, program);
			await run.said(/begun/);
			const ids = await snapshots(rig, 15);
			const last = await endOf(run);
			const pairs = pairsOf(ids);
			expectLockstep(pairs);
			expect(pairs.at(-1)).toEqual([last, last]);
			rig.cli.json(['restore', 'project', '1', '--yes']);
		}
	});

	test('every snapshot of a database that is written in WAL mode is sound, and each transaction is in it whole', async () => {
		using rig = sessionRig(account);
		const run = startPython(rig, DATABASE);
		await run.said(/begun/);
		const ids = await snapshots(rig, 10);
		const last = await endOf(run);
		expectSoundDatabases(rig, account, ids, last);
	});

	test('a live session is looked at, snapshotted and refused to others while it goes on', async () => {
		using rig = sessionRig(account);
		rig.sh('echo base > f');
		const script =
			'go=0; trap "go=1" USR1; trap "exit 0" TERM; echo 1 > f; echo begun; while [ $go = 0 ]; do sleep 0.01; done; echo 2 > f; echo more; while :; do sleep 0.01; done';
		const run = rig.cli.start(['quick', rig.project, '--', 'sh', '-euc', script]);
		await run.said(/begun/);

		const status = rig.cli.json<Record<string, unknown>>(['status', 'project']);
		expect(status).toMatchObject({ state: 'live', pid: run.pid, sandbox: { argv: ['sh', '-euc', script] } });
		expect(rig.cli.json(['ps'])).toMatchObject([{ sessionId: 'project', state: 'live', pid: run.pid }]);
		expect(rig.cli.run(['diff', 'project', '--patch']).stdout).toContain('-base\n+1\n');
		expect(rig.cli.json(['snap', 'project', 'first'])).toMatchObject({ tag: 'first', id: 2 });
		run.kill('SIGUSR1');
		await run.said(/more/);
		expect(rig.cli.run(['diff', 'project', 'first', '@', '--patch']).stdout).toContain('-1\n+2\n');
		expect(rig.cli.run(['snap', 'project', 'first'])).toMatchObject({ code: 1 });

		for (const args of [
			['gc', 'project'],
			['apply', 'project', '--yes'],
			['discard', 'project', '--yes'],
		]) {
			const ran = rig.cli.run(args);
			expect({ args, code: ran.code, stdout: ran.stdout }).toEqual({ args, code: 3, stdout: '' });
			expect(ran.stderr).toMatch(/^dropcloth: .*project.*\n$/);
		}
		run.kill('SIGTERM');
		expect(await run.ended).toMatchObject({ code: 0, stderr: '' });
		rig.cli.json(['restore', 'project', 'first', '--yes']);
		expect(rig.inside('cat f')).toBe('1\n');
	});

	test.each([
		['that answers the signal ends with its own code', 'trap "echo bye > f; exit 7" TERM', 7, 'bye\n'],
		['that does not is killed by it', ':', 143, 'begun\n'],
		['that takes no notice, as an interactive shell does, is hung up on', "trap '' TERM", 129, 'begun\n'],
	])('stop: a command %s, and everything is taken in', async (_, trap, code, content) => {
		using rig = sessionRig(account);
		const run = rig.cli.start([
			'quick',
			rig.project,
			'--',
			'sh',
			'-uc',
			`${trap}; echo begun | tee f; while :; do :; done`,
		]);
		await run.said(/begun/);
		expect(rig.cli.run(['stop', 'project'])).toMatchObject({
			code: 0,
			stdout: 'stopped session project\n',
			stderr: '',
		});
		expect(rig.cli.json(['status', 'project'])).toMatchObject({ state: 'stopped', changed: false });
		expect(await run.ended).toMatchObject({
			code,
			stderr: 'dropcloth: session project is stopped by `dropcloth stop`\n',
		});
		expect(fileAt(rig.cli, 'now', 'f')?.toString()).toBe(content);
		expect(rig.cli.run(['stop', 'project']).stdout).toBe('session project is not live\n');
	});

	describe('on a terminal', () => {
		// a shell that waits for a program takes a Ctrl-C only when the program dies of it: hence the exec
		test('Ctrl-C ends the command, not the session, and what it wrote is there', async () => {
			using rig = sessionRig(account);
			const shell = await outerShell(rig);
			try {
				shell.type(`dropcloth quick . -- sh -c 'echo 1 > f; echo ready; exec sleep 1000'; echo "code $?"\n`);
				await shell.shown(/^ready\n/m);
				shell.type(CTRL_C);
				await shell.shown(/OUT> /);
				shell.type('echo still $((40 + 2))\n');
				await shell.shown(/still 42\n(.*\n)*OUT> /);
				shell.type(`dropcloth quick . -- sh -c 'trap "echo caught; exit 5" INT; echo ready; while :; do :; done'\n`);
				await shell.shown(/^ready\n/m);
				shell.type(CTRL_C);
				await shell.shown(/caught/);
				await shell.shown(/OUT> /);
				shell.type('echo "code $?"\n');
				await shell.shown(/^code 5$/m);
			} finally {
				shell.kill();
			}
			await shell.ended;
			expect(rig.inside('cat f')).toBe('1\n');
		});

		test('Ctrl-Z stops all of it, status still answers, fg continues it', async () => {
			using rig = sessionRig(account);
			const shell = await outerShell(rig);
			try {
				shell.type(`dropcloth quick . -- sh -c 'echo ready; while read line; do echo "got $line"; done'\n`);
				await shell.shown(/^ready\n/m);
				for (const word of ['one', 'two']) {
					shell.type(CTRL_Z);
					await shell.shown(/Stopped.*\n(.*\n)*OUT> /);
					expect(rig.cli.json(['status', 'project'])).toMatchObject({ state: 'live' });
					shell.type('fg\n');
					await shell.shown(/fg\n.*\n/);
					shell.type(`${word}\n`);
					await shell.shown(new RegExp(`got ${word}\n`));
				}
				shell.type('\x04');
				await shell.shown(/OUT> /);
			} finally {
				shell.kill();
			}
			await shell.ended;
		});

		test('the window’s size is seen inside, and so is its change', async () => {
			using rig = sessionRig(account);
			const shell = await outerShell(rig);
			try {
				shell.type(
					`dropcloth quick . -- bash --norc -c 'trap "echo changed; stty size" WINCH; trap exit INT; stty size; echo ready; while :; do sleep 0.1; done'\n`,
				);
				await shell.shown(/^33 99\n(.*\n)*ready\n/m);
				shell.resize();
				await shell.shown(/changed\n44 111\n/);
				shell.type(CTRL_C);
				await shell.shown(/OUT> /);
			} finally {
				shell.kill();
			}
			await shell.ended;
		});
	});
});
