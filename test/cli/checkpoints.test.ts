import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../src/store/snapshots.ts';
import { accounts, presentAccount } from '../support/accounts.ts';
import { snapshotsOf } from '../support/checkpoints.ts';
import { fileAt } from '../support/file-at.ts';
import { LiveShell } from '../support/live-shell.ts';
import { sessionRig } from '../support/session-rig.ts';
import { until } from '../support/until.ts';

/** Waits for a signal, does something, and so on; ends with SIGTERM. */
const ON_SIGNAL = (first: string, then: string) =>
	`go=0; trap "go=1" USR1; trap "exit 0" TERM; ${first}; echo begun; while [ $go = 0 ]; do sleep 0.01; done; ${then}; echo more; while :; do sleep 0.01; done`;

describe.each(accounts())('as $name', (account) => {
	test('a checkpoint is taken at each rest after something changed, and none of what is in one already', async () => {
		using rig = sessionRig(account);
		const script = ON_SIGNAL('mkdir -p a/b; echo 1 > a/b/f', 'echo 2 > a/b/f; mkdir -p c/d/e; echo new > c/d/e/g');
		const run = rig.cli.start(['quick', rig.project, '--quiet', '200ms', '--', 'sh', '-euc', script]);
		await run.said(/begun/);
		await until('the first checkpoint', () => snapshotsOf(rig, 'quiet').length === 1);
		run.kill('SIGUSR1');
		await run.said(/more/);
		await until('the second checkpoint', () => snapshotsOf(rig, 'quiet').length === 2);
		run.kill('SIGTERM');
		expect(await run.ended).toMatchObject({ code: 0, stderr: '' });
		const all = snapshotsOf(rig);
		// nothing has changed since the second one, so that the end adds none
		expect(all.map(({ trigger, atRest }) => [trigger, atRest])).toEqual([
			['start', true],
			['quiet', true],
			['quiet', true],
		]);
		const [, one, two] = all as [Snapshot, Snapshot, Snapshot];
		expect(one.run).not.toBeNull();
		expect(fileAt(rig.cli, one.id, 'a/b/f')?.toString()).toBe('1\n');
		expect(fileAt(rig.cli, one.id, 'c/d/e/g')).toBeNull();
		expect(fileAt(rig.cli, two.id, 'a/b/f')?.toString()).toBe('2\n');
		expect(fileAt(rig.cli, two.id, 'c/d/e/g')?.toString()).toBe('new\n');
	});

	test('writes to a file that got a second name and lost its first are in the next checkpoint', async () => {
		using rig = sessionRig(account);
		const shell = await LiveShell.start(rig, ['--quiet', '200ms']);
		const checkpoints = () => snapshotsOf(rig, 'quiet').length;
		await shell.run('mkdir a b; echo one > a/file');
		await until('the first checkpoint', () => checkpoints() === 1);
		await shell.run('exec 5>> a/file; ln a/file b/link; rm a/file; mv b/link a/file; exec 5>&-');
		rig.cli.json(['snap', 'project', 'moved']);
		await shell.run('echo two >> a/file');
		await until('a checkpoint of the write', () => checkpoints() === 2);
		expect(fileAt(rig.cli, snapshotsOf(rig).at(-1)?.id as number, 'a/file')?.toString()).toBe('one\ntwo\n');
		expect(await shell.end()).toMatchObject({ code: 0, stderr: '' });
	});

	test('one is taken when the interval has passed without a rest, and is shown as taken mid-operation', async () => {
		using rig = sessionRig(account);
		const script = 'trap "exit 0" TERM; n=0; echo begun; while :; do n=$((n + 1)); echo $n > f; done';
		const flags = ['--quiet', '10s', '--checkpoint-interval', '300ms'];
		const run = rig.cli.start(['quick', rig.project, ...flags, '--', 'sh', '-euc', script]);
		await run.said(/begun/);
		await until('three checkpoints', () => snapshotsOf(rig, 'ceiling').length >= 3);
		run.kill('SIGTERM');
		expect(await run.ended).toMatchObject({ code: 0, stderr: '' });

		const taken = snapshotsOf(rig, 'ceiling');
		expect(taken.map(({ atRest }) => atRest)).toEqual(taken.map(() => false));
		const [{ id }] = taken as [Snapshot];
		for (const command of ['list', 'log']) {
			expect(rig.cli.run([command, 'project']).stdout).toMatch(
				new RegExp(`^\\*? *${id} .*ceiling \\(mid-operation\\)`, 'm'),
			);
			const { snapshots } = rig.cli.json<{ snapshots: object[] }>([command, 'project']);
			expect(snapshots).toContainEqual(expect.objectContaining({ id, trigger: 'ceiling', atRest: false }));
		}
		expect(rig.cli.run(['show', 'project', String(id)]).stdout).toContain(
			'ceiling, mid-operation: something was still',
		);
		expect(rig.cli.json(['show', 'project', String(id)])).toMatchObject({ trigger: 'ceiling', atRest: false });
	});

	test.each([
		['all', ['start', 'start', 'quiet', 'exit']],
		['checkpoints', ['start', 'quiet']],
		['exit', ['start', 'exit']],
		['none', ['start']],
	])('--snapshots %s makes %j', async (policy, triggers) => {
		using rig = sessionRig(account);
		// changes from before that are in no snapshot
		rig.cli.run(['quick', rig.project, '--snapshots', 'none', '--', 'sh', '-c', 'echo before > f']);
		const script = `trap "echo last > f; exit 0" TERM; echo 1 > f; echo begun; while :; do sleep 0.01; done`;
		const flags = ['--snapshots', policy, '--quiet', '50ms'];
		const run = rig.cli.start(['quick', rig.project, ...flags, '--', 'sh', '-euc', script]);
		await run.said(/begun/);
		if (triggers.includes('quiet')) await until('a checkpoint', () => snapshotsOf(rig, 'quiet').length === 1);
		run.kill('SIGTERM');
		expect(await run.ended).toMatchObject({ code: 0, stderr: '' });
		expect(snapshotsOf(rig).map(({ trigger }) => trigger)).toEqual(triggers);
		expect(fileAt(rig.cli, 'now', 'f')?.toString()).toBe('last\n');
	});
});

test.each([
	['--quiet', '10'],
	['--quiet', '10ms'],
	['--quiet', '8d'],
	['--checkpoint-interval', '0s'],
	['--checkpoint-interval', 'soon'],
])('%s %s is refused', (flag, value) => {
	using rig = sessionRig(presentAccount());
	const ran = rig.cli.run(['quick', rig.project, flag, value, '--', 'true']);
	expect(ran).toMatchObject({ code: 2, stdout: '' });
	expect(ran.stderr).toContain(value);
});
