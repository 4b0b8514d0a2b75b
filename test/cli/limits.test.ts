import { describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { fileAt } from '../support/file-at.ts';
import { LiveShell } from '../support/live-shell.ts';
import { type SessionRig, sessionRig } from '../support/session-rig.ts';

describe.each(accounts())('as $name', (account) => {
	test.each([
		['answers the signal', 'trap "echo bye > g; exit 0" TERM; echo begun > f; while :; do sleep 0.01; done', 'bye\n'],
		['does not end is killed', 'trap "echo no > g" TERM HUP; echo begun > f; while :; do sleep 0.01; done', 'no\n'],
	])('--timeout: a command that %s; exit code 124, and everything is taken in', (_, script, last) => {
		using rig = sessionRig(account);
		const ran = rig.cli.run(['quick', rig.project, '--timeout', '1s', '--', 'sh', '-uc', script]);
		expect(ran.code, ran.stderr).toBe(124);
		expect(ran.stderr).toMatch(/^dropcloth: --timeout 1s has passed: the command is told to end\n/);
		expect(ran.stderr.includes('killed')).toBe(last === 'no\n');
		expect(fileAt(rig.cli, 'now', 'f')?.toString()).toBe('begun\n');
		expect(fileAt(rig.cli, 'now', 'g')?.toString()).toBe(last);
		expect(rig.cli.json(['status', 'project'])).toMatchObject({ state: 'stopped', changed: false });
	});

	test('--timeout: a command that ends by itself keeps its own exit code', () => {
		using rig = sessionRig(account);
		const ran = rig.cli.run(['quick', rig.project, '--timeout', '90d', '--', 'sh', '-c', 'exit 7']);
		expect(ran).toMatchObject({ code: 7, stderr: '' });
	});

	test('--quota: near it that is said, at it the command is ended, and nothing is lost', async () => {
		using rig = sessionRig(account);
		const script = `
			go=0; trap 'go=1' USR1; trap 'echo told to end; exit 0' TERM
			truncate -s 10G sparse
			head -c 17M /dev/zero > a
			while [ $go = 0 ]; do sleep 0.01; done
			for n in 1 2 3 4; do head -c 1M /dev/zero > $n; done
			while :; do sleep 0.01; done`;
		const run = rig.cli.start(['quick', rig.project, '--quota', '20M', '--', 'sh', '-uc', script]);
		await run.said(/the layer takes 1\d\.\d MiB of its quota of 20\.0 MiB; at the quota the command is ended/);
		expect(rig.cli.json(['status', 'project'])).toMatchObject({
			sandbox: { quota: { limitBytes: 20 * 1024 ** 2, state: 'near' } },
		});
		run.kill('SIGUSR1');
		const ran = await run.ended;
		expect(ran).toMatchObject({ code: 8, stdout: 'told to end\n' });
		expect(ran.stderr).toMatch(/the layer takes 2\d\.\d MiB of its quota of 20\.0 MiB: the command is told to end\n$/);
		expect(fileAt(rig.cli, 'now', 'a')?.length).toBe(17 * 1024 ** 2);
		expect(fileAt(rig.cli, 'now', '2')?.length).toBe(1024 ** 2);
		const again = rig.cli.run(['quick', rig.project, '--quota', '20M', '--', 'touch', 'f']);
		expect(again).toMatchObject({ code: 8, stdout: '' });
		expect(again.stderr).toMatch(
			/^dropcloth: the layer of session 'project' takes 2\d\.\d MiB, the quota is 20\.0 MiB /,
		);
		expect(rig.inside('ls a')).toBe('a\n');
	});

	test('--quota: a command that writes on is killed', () => {
		using rig = sessionRig(account);
		const script = `trap '' TERM HUP; while :; do head -c 1M /dev/zero >> a; done`;
		const ran = rig.cli.run(['quick', rig.project, '--quota', '20M', '--', 'sh', '-euc', script]);
		expect(ran.code, ran.stderr).toBe(8);
		expect(ran.stderr).toMatch(/: the command is killed\n$/);
	});

	test.each([
		['--timeout', '0s', 'no time at all'],
		['--timeout', '5', 'not a duration'],
		['--quota', '7', 'not a size'],
		['--memory', '1X', 'not a size'],
		['--memory', '1K', '4M is the least'],
		['--pids', '0', 'no number of processes'],
	])('%s %s is a usage error', (flag, value, why) => {
		using rig = sessionRig(account);
		const ran = rig.cli.run(['quick', rig.project, flag, value, '--', 'true']);
		expect(ran).toMatchObject({ code: 2, stdout: '' });
		expect(ran.stderr).toContain(why);
	});

	/** Whether a group limits all that is inside together, as `doctor` tells. */
	function isDelegated({ cli }: SessionRig): boolean {
		const { stdout } = cli.run(['doctor', '--json']);
		const findings = JSON.parse(stdout) as { check: string; ok: boolean }[];
		return findings.some(({ check, ok }) => check === 'cgroup-delegation' && ok);
	}

	test('--memory: a command that takes more gets none; where that holds for each process it is said', () => {
		using rig = sessionRig(account);
		const take = (mebibytes: number) =>
			rig.cli.run([
				'quick',
				rig.project,
				'--memory',
				'200M',
				'--',
				'/usr/bin/python3',
				'-c',
				`bytearray(${mebibytes} << 20)`,
			]);
		expect(take(10).code).toBe(0);
		const { code, stderr } = take(400);
		expect(code).not.toBe(0);
		const said =
			/^dropcloth: --memory holds for each process, not for all together: no control group with memory is delegated/;
		if (isDelegated(rig)) expect(stderr).not.toMatch(said);
		else expect(stderr).toMatch(said);
	});

	test('--pids: there are no more, or it is refused where nothing would hold it', () => {
		using rig = sessionRig(account);
		const script = 'for n in 1 2 3 4 5 6 7 8; do sleep 5 & done; wait';
		const ran = rig.cli.run(['quick', rig.project, '--pids', '5', '--', 'sh', '-c', script]);
		if (account.uid === 0 && !isDelegated(rig)) {
			expect(ran).toMatchObject({ code: 4, stdout: '' });
			expect(ran.stderr).toMatch(
				/^dropcloth: --pids 5: no control group with pids is delegated to this user, and the kernel limits root/,
			);
		} else {
			expect(ran.stderr).toMatch(/fork/);
			expect(ran.code).not.toBe(0);
		}
	});

	test('who joins has the limits too, and asks for no others', async () => {
		using rig = sessionRig(account);
		const first = await LiveShell.start(rig, ['--memory', '200M']);
		const join = (...flags: string[]) =>
			rig.cli.run(['run', 'project', ...flags, '--', '/usr/bin/python3', '-c', 'bytearray(400 << 20)']);
		expect(join().code).not.toBe(0);
		expect(join('--memory', '1G')).toMatchObject({ code: 2, stdout: '' });
		expect(join('--memory', '1G').stderr).toContain('--memory 1073741824 bytes (it has 209715200 bytes)');
		await first.end();
	});
});
