import { describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { fileAt } from '../support/file-at.ts';
import { sessionRig } from '../support/session-rig.ts';

describe.each(accounts())('as $name', (account) => {
	test.each([
		['answers the signal', 'trap "echo bye > g; exit 0" TERM; echo begun > f; while :; do sleep 0.01; done', 'bye\n'],
		['does not end is killed', 'trap "echo no > g" TERM; echo begun > f; while :; do sleep 0.01; done', 'no\n'],
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
		const script = `trap '' TERM; while :; do head -c 1M /dev/zero >> a; done`;
		const ran = rig.cli.run(['quick', rig.project, '--quota', '20M', '--', 'sh', '-euc', script]);
		expect(ran.code, ran.stderr).toBe(8);
		expect(ran.stderr).toMatch(/: the command is killed\n$/);
	});

	test.each([
		['--timeout', '0s', 'no time at all'],
		['--timeout', '5', 'not a duration'],
		['--quota', '7', 'not a size'],
	])('%s %s is a usage error', (flag, value, why) => {
		using rig = sessionRig(account);
		const ran = rig.cli.run(['quick', rig.project, flag, value, '--', 'true']);
		expect(ran).toMatchObject({ code: 2, stdout: '' });
		expect(ran.stderr).toContain(why);
	});
});
