import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { LaunchRig } from '../support/launch-rig.ts';
import { builtLauncher } from '../support/native-programs.ts';

/** With Landlock's signal scope the command stays in the caller's process group, without it leads its own. */
const CONFINEMENTS = ['seccomp,landlock', 'seccomp'];

describe.each(accounts())('signals and the end, as $name', (account) => {
	let rig: LaunchRig;
	beforeEach(() => {
		rig = new LaunchRig(account);
	});
	afterEach(() => rig[Symbol.dispose]());

	const shell = (script: string, confine = 'seccomp,landlock') =>
		rig.start(rig.plan(['sh', '-c', script], { confine }));

	/** Waits in the foreground for a line that never comes, so that traps run at once. */
	const trapping = (signal: string, code: number) =>
		`trap 'exit ${code}' ${signal}; echo ready; while :; do sleep 1000 & wait; done`;

	describe.each(CONFINEMENTS)('confined by %s', (confine) => {
		test.each(['TERM', 'USR1', 'USR2', 'HUP', 'INT', 'QUIT'] as const)(
			'SIG%s to the launcher reaches a trap',
			async (name) => {
				const launch = shell(trapping(name, 42), confine);
				await launch.said(/ready/);
				launch.kill(`SIG${name}`);
				const ended = await launch.ended;
				expect(ended.code).toBe(42);
				expect(ended.report).toContain('exit 42');
			},
		);

		test('SIGTERM without a trap ends the command, which is reported', async () => {
			const launch = shell('echo ready; exec sleep 1000', confine);
			await launch.said(/ready/);
			launch.kill('SIGTERM');
			const ended = await launch.ended;
			expect(ended.code).toBe(143);
			expect(ended.report).toContain('signal 15');
		});

		test('a real-time signal reaches a trap', async () => {
			const launch = rig.start(rig.plan(['bash', '-c', trapping('RTMIN+2', 43)], { confine }));
			await launch.said(/ready/);
			process.kill(launch.pid, 36);
			expect((await launch.ended).code).toBe(43);
		});

		test('SIGSTOP of the command and SIGCONT to the launcher: it goes on', async () => {
			const launch = shell('echo ready; kill -STOP $$; echo on', confine);
			await launch.said(/ready/);
			// Once for each look, because the stop may come after it.
			const more = setInterval(() => launch.kill('SIGCONT'), 20);
			const ended = await launch.ended;
			clearInterval(more);
			expect(ended.stdout).toBe('ready\non\n');
		});

		test('the launcher killed: everything inside dies, processes of their own sessions too', async () => {
			const launch = shell('setsid sh -c "echo ready; sleep 1000" & trap "" TERM HUP; sleep 1000', confine);
			await launch.said(/ready/);
			launch.kill('SIGKILL');
			// Closed only when the last process that holds the pipe has gone.
			expect((await launch.ended).signal).toBe('SIGKILL');
		});

		test('the caller killed: everything dies', async () => {
			const plan = rig.planFile(rig.plan(['sh', '-c', 'setsid sleep 1000 & echo ready; sleep 1000'], { confine }));
			const script = '"$0" $$ 3<"$1" 4>/dev/null; exit $?';
			const caller = spawn('bash', ['-c', script, builtLauncher(), plan], {
				cwd: '/',
				env: account.environment(),
				uid: account.uid,
				gid: account.gid,
				stdio: ['pipe', 'pipe', 'inherit'],
			});
			const closed = new Promise<void>((resolve) => caller.once('close', () => resolve()));
			await new Promise((resolve) => caller.stdout.once('data', resolve));
			caller.kill('SIGKILL');
			await closed;
		});
	});

	test('what runs in the background ends with the command', async () => {
		const ended = await shell('setsid sleep 1000 & sleep 1000 & exit 5').ended;
		expect(ended.code).toBe(5);
	});

	test('orphans are reaped', async () => {
		const script = `
			for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 0 & exit 0); done
			while grep -q '^State:.Z' /proc/[0-9]*/status 2>/dev/null; do :; done; echo none`;
		expect((await shell(script).ended).stdout).toBe('none\n');
	});

	test("a storm of orphans is reaped, and the exit code is still the command's", async () => {
		const script = `
			i=0; while [ $i -lt 1000 ]; do (: & :) & i=$((i+1)); done; wait
			while grep -q '^State:.Z' /proc/[0-9]*/status 2>/dev/null; do :; done; exit 9`;
		expect((await shell(script).ended).code).toBe(9);
	});

	test('signals that processes inside send to PID 1 are not passed on', async () => {
		const script = 'trap "echo passed on" TERM USR1; kill -TERM 1; kill -USR1 1; cat /proc/1/stat >/dev/null; exit 6';
		expect(await shell(script, 'seccomp').ended).toMatchObject({ code: 6, stdout: '' });
	});

	test('a caller that ignores SIGCHLD does not make the end be missed', async () => {
		const plan = rig.planFile(rig.plan(['sh', '-c', 'exit 11']));
		const script = 'env --ignore-signal=CHLD "$0" $$ 3<"$1" 4>/dev/null; exit $?';
		expect(account.run(['sh', '-c', script, builtLauncher(), plan], { cwd: '/' }).code).toBe(11);
	});

	test('what the caller ignores stays ignored', async () => {
		const plan = rig.planFile(rig.plan(['sh', '-c', 'kill -HUP $$; echo alive']));
		const script = 'env --ignore-signal=HUP "$0" $$ 3<"$1" 4>/dev/null; exit $?';
		expect(account.run(['sh', '-c', script, builtLauncher(), plan], { cwd: '/' }).stdout).toBe('alive\n');
	});
});
