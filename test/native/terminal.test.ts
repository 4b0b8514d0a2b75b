import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import type { Launch } from '../support/launch.ts';
import { LaunchRig } from '../support/launch-rig.ts';
import { builtLauncher, testProgram } from '../support/native-programs.ts';
import { PROJECT } from '../support/source-files.ts';
import { Terminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';

/**
 * With Landlock's signal scope the command stays in the caller's process group, without it leads its own, as a command that
 * joins does in any case.
 */
const KINDS = ['seccomp,landlock', 'seccomp', 'joined'];

/** Waits for signals and shows them. */
const SIGNALS = testProgram('signals');

const FREEZES = 50;
const APPEND = 'sh -c "printf x >>progress"';

const CTRL_C = '\x03';
const CTRL_Z = '\x1a';

describe.each(accounts())('on a terminal, as $name', (account) => {
	let rig: LaunchRig;
	let terminal: Terminal | undefined;
	let sandbox: Launch | undefined;
	beforeEach(() => {
		rig = new LaunchRig(account);
	});
	afterEach(async () => {
		terminal?.kill();
		await terminal?.ended;
		sandbox?.kill('SIGKILL');
		await sandbox?.ended;
		terminal = sandbox = undefined;
		rig[Symbol.dispose]();
	});

	/** The PID 1 of a sandbox to join, whose first command has begun. */
	async function initToJoin(): Promise<number> {
		const launch = rig.start(rig.plan(['sleep', '1000'], { control: true }));
		sandbox = launch;
		await until('the first command', () => /^started$/m.test(launch.reported));
		return launch.init();
	}

	/** An interactive shell outside whose function `run` is the launcher with the script, through the caller's stdin. */
	async function outerShell(script: string, kind: string): Promise<Terminal> {
		const command = ['bash', '--norc', '-c', script];
		const plan = rig.planFile(
			kind === 'joined' ? rig.joinPlan(await initToJoin(), command) : rig.plan(command, { confine: kind }),
		);
		const env = { PS1: 'OUT> ', LAUNCH: builtLauncher(), PLAN: plan, REPORT: rig.file('report', ''), SIGNALS };
		terminal = new Terminal(account, ['bash', '--norc', '--noprofile', '--noediting', '-i'], env);
		await terminal.shown(/OUT> /);
		terminal.type(`run() { "$LAUNCH" $$ 3<"$PLAN" 4>>"$REPORT"; }; unset HISTFILE\n`);
		await terminal.shown(/OUT> $/);
		return terminal;
	}

	/** The shell outside still has the terminal and reads from it. */
	async function expectPrompt(shell: Terminal): Promise<void> {
		shell.type('echo still $((40 + 2))\n');
		await shell.shown(/still 42\n(.*\n)*OUT> /);
	}

	/** Waits until the shell outside has seen its job stop. */
	async function stoppedJob(shell: Terminal): Promise<void> {
		let jobs = '';
		while (!jobs.includes('Stopped')) {
			shell.type('jobs; echo listed\n');
			jobs = await shell.shown(/^listed\n/m);
		}
	}

	describe.each(KINDS)('%s', (kind) => {
		test('what is typed reaches the command, and its end gives the terminal back', async () => {
			const shell = await outerShell('read line; echo "got $line"; exit 7', kind);
			shell.type('run; echo "code $?"\nhello\n');
			await shell.shown(/got hello\n(.*\n)*code 7\n/);
			await expectPrompt(shell);
		});

		test('Ctrl-C reaches a handler of the command', async () => {
			const shell = await outerShell(SIGNALS, kind);
			shell.type('run; echo "code $?"\n');
			await shell.shown(/^ready\n/m);
			shell.type(CTRL_C);
			await shell.shown(/signal 2\n(.*\n)*code 2\n/);
			await expectPrompt(shell);
		});

		test('Ctrl-C ends a command without a handler', async () => {
			const shell = await outerShell('echo ready; exec sleep 1000', kind);
			shell.type('run\n');
			await shell.shown(/^ready\n/m);
			shell.type(CTRL_C);
			await shell.shown(/OUT> /);
			await expectPrompt(shell);
		});

		test('Ctrl-Z stops the whole run as a job, fg continues it', async () => {
			const shell = await outerShell('echo ready; while read line; do echo "got $line"; done', kind);
			shell.type('run\n');
			await shell.shown(/^ready\n/m);
			for (const word of ['one', 'two', 'three']) {
				shell.type(CTRL_Z);
				await shell.shown(/Stopped.*\n(.*\n)*OUT> /);
				await expectPrompt(shell);
				shell.type('fg\n');
				await shell.shown(/fg\n.*\n/);
				shell.type(`${word}\n`);
				await shell.shown(new RegExp(`got ${word}\n`));
			}
		});

		test.each(['kill -TSTP 0', 'kill -STOP $$', 'kill -TSTP $$'])(
			'a command that suspends itself by %s stops the job, fg continues it',
			async (suspend) => {
				const shell = await outerShell(
					`echo ready; while read line; do echo "got $line"; ${suspend}; echo on; done`,
					kind,
				);
				shell.type('run\n');
				await shell.shown(/^ready\n/m);
				for (const word of ['one', 'two']) {
					shell.type(`${word}\n`);
					await shell.shown(/got \w+\n(.*\n)*.*Stopped.*\n(.*\n)*OUT> /);
					await expectPrompt(shell);
					shell.type('fg\n');
					await shell.shown(/^on\n/m);
				}
			},
		);

		test('bg continues a stopped run in the background, fg brings it back to the terminal', async () => {
			const shell = await outerShell('echo ready; read line; echo "got $line"; exit 4', kind);
			shell.type('run\n');
			await shell.shown(/^ready\n/m);
			shell.type(CTRL_Z);
			await shell.shown(/Stopped.*\n(.*\n)*OUT> /);
			// In the background it reads from the terminal, which stops it again.
			shell.type('bg\n');
			await shell.shown(/bg\n/);
			await stoppedJob(shell);
			shell.type('fg\n');
			await shell.shown(/fg\n.*\n/);
			shell.type('text\n');
			await shell.shown(/got text\n/);
			await expectPrompt(shell);
		});

		test('started in the background it is stopped when it reads, and fg gives it the terminal', async () => {
			const shell = await outerShell('read line; echo "got $line"', kind);
			shell.type('"$LAUNCH" $$ 3<"$PLAN" 4>>"$REPORT" & sleep 0\n');
			await shell.shown(/OUT> /);
			await stoppedJob(shell);
			shell.type('fg\n');
			await shell.shown(/fg\n.*\n/);
			shell.type('text\n');
			await shell.shown(/got text\n/);
			await expectPrompt(shell);
		});

		test('an interactive shell inside has jobs of its own', async () => {
			const shell = await outerShell('PS1="IN> " exec bash --norc --noprofile --noediting -i', kind);
			shell.type('run; echo "code $?"\n');
			await shell.shown(/^IN> /m);
			shell.type('$SIGNALS\n');
			await shell.shown(/^ready\n/m);
			shell.type(CTRL_Z);
			await shell.shown(/Stopped.*\n(.*\n)*IN> /);
			shell.type('jobs\n');
			await shell.shown(/Stopped +\$SIGNALS\n/);
			shell.type('fg\n');
			await shell.shown(/signal 18\n/);
			shell.type(CTRL_C);
			await shell.shown(/signal 2\n(.*\n)*IN> /);
			shell.type('exit 5\n');
			await shell.shown(/code 5\n/);
			await expectPrompt(shell);
		});

		test('after an interactive shell inside was killed the terminal is given back', async () => {
			const shell = await outerShell('PS1="IN> " exec bash --norc --noprofile --noediting -i', kind);
			// A script of the shell: it has no job control, and reads in the group that the launcher was started in.
			const script = '"$LAUNCH" $$ 3<"$PLAN" 4>>"$REPORT"; echo "code $?"; read x; echo "read $x"';
			shell.type(`bash -c '${script}'\n`);
			await shell.shown(/^IN> /m);
			shell.type('kill -9 $$\n');
			await shell.shown(/code 137\n/);
			shell.type('hello\n');
			await shell.shown(/read hello\n/);
			await expectPrompt(shell);
		});

		test('an inner shell that suspends itself gives the terminal to the outer one, and gets it again', async () => {
			const shell = await outerShell('PS1="IN> " exec bash --norc --noprofile --noediting -i', kind);
			shell.type('run; echo "code $?"\n');
			await shell.shown(/^IN> /m);
			shell.type('suspend -f\n');
			await shell.shown(/Stopped.*\n(.*\n)*OUT> /);
			await expectPrompt(shell);
			shell.type('fg\n');
			await shell.shown(/fg\n.*\n/);
			shell.type('echo inside $((50 + 5))\n');
			await shell.shown(/inside 55\n/);
			shell.type('exit 6\n');
			await shell.shown(/OUT> /);
			await expectPrompt(shell);
		});

		test('the window has its size, and a change of it is told', async () => {
			const shell = await outerShell(`stty size; exec ${SIGNALS}`, kind);
			shell.type('run\n');
			await shell.shown(/^33 99\nready\n/m);
			shell.resize();
			await shell.shown(/^size 44 111\n/m);
			shell.type(CTRL_C);
			await shell.shown(/signal 2\n(.*\n)*OUT> /);
		});

		test('Ctrl-C reaches a command whose standard input is a pipe', async () => {
			const shell = await outerShell(SIGNALS, kind);
			shell.type('sleep 1000 | "$LAUNCH" $$ 3<"$PLAN" 4>>"$REPORT"\n');
			await shell.shown(/^ready\n/m);
			shell.type(CTRL_C);
			await shell.shown(/signal 2\n/);
			await expectPrompt(shell);
		});
	});

	test('Ctrl-C reaches all of the command, though its standard input is a pipe', async () => {
		const shell = await outerShell(`${SIGNALS}; true`, 'seccomp');
		shell.type('sleep 1000 | "$LAUNCH" $$ 3<"$PLAN" 4>>"$REPORT"\n');
		await shell.shown(/^ready\n/m);
		shell.type(CTRL_C);
		await shell.shown(/signal 2\n/);
		await expectPrompt(shell);
	});

	test.each([
		['bash --norc --noprofile --noediting -i', `while :; do ${APPEND}; done`],
		['bash --norc --noprofile --noediting -i', 'while :; do printf x | cat >>progress; done'],
		['dash -i', `while :; do ${APPEND}; done`],
		['dash -i', `sh -c 'while :; do printf x >>progress; done'`],
	])('no freeze throws the foreground job of %s to the background: %s', async (inner, job) => {
		const plan = rig.planFile(rig.plan(['sh', '-c', `PS1='IN> ' exec ${inner}`], { control: true }));
		const caller = join(PROJECT, 'test/native/programs/freezing-caller.mjs');
		const progress = join(rig.upper, 'progress');
		const command = [process.execPath, caller, builtLauncher(), plan, progress, String(FREEZES)];
		terminal = new Terminal(account, command);
		await terminal.shown(/IN> /);
		terminal.type(`${job}\n`);
		const shown = await terminal.shown(new RegExp(`froze ${FREEZES} times\n`));
		expect(shown).not.toMatch(/stopped|IN> /i);
	});

	describe('joined to a sandbox that is frozen', () => {
		const progress = () => statSync(join(rig.upper, 'progress'), { throwIfNoEntry: false })?.size ?? 0;
		const progressBeyond = (size: number) => until('progress', () => progress() > size);

		test.each(['bash --norc --noprofile --noediting -i', 'dash -i'])(
			'neither the foreground job of %s nor the outer one is thrown to the background',
			async (inner) => {
				const shell = await outerShell(`PS1='IN> ' exec ${inner}`, 'joined');
				shell.type('run\n');
				await shell.shown(/IN> /);
				shell.type(`while :; do ${APPEND}; done\n`);
				for (let time = 0; time < FREEZES; time++) {
					await progressBeyond(progress());
					expect(await sandbox?.ask('F')).toMatch(/^frozen /);
					expect(await sandbox?.ask('T')).toBe('thawed');
				}
				await progressBeyond(progress());
				expect(shell.text).toMatch(/IN> while .*\n$/);
			},
		);

		test('fg in the outer shell continues it after the thaw', async () => {
			const shell = await outerShell('while :; do printf x >>progress; done', 'joined');
			shell.type('run\n');
			await progressBeyond(0);
			shell.type(CTRL_Z);
			await shell.shown(/Stopped.*\n(.*\n)*OUT> /);
			expect(await sandbox?.ask('F')).toMatch(/^frozen /);
			const size = progress();
			shell.type('fg\n');
			await shell.shown(/fg\n.*\n/);
			for (let look = 0; look < 20; look++) {
				await setTimeout(1);
				expect(progress()).toBe(size);
			}
			expect(await sandbox?.ask('T')).toBe('thawed');
			await progressBeyond(size);
			shell.type(CTRL_C);
			await shell.shown(/OUT> /);
			await expectPrompt(shell);
		});

		test('what suspended itself before stays so, and the outer shell is told of it once', async () => {
			const shell = await outerShell('echo ready; read line; kill -STOP $$; echo on', 'joined');
			shell.type('run\n');
			await shell.shown(/^ready\n/m);
			expect(await sandbox?.ask('F')).toMatch(/^frozen /);
			shell.type('line\n');
			expect(await sandbox?.ask('T')).toBe('thawed');
			await shell.shown(/Stopped.*\n(.*\n)*OUT> /);
			expect(await sandbox?.ask('F')).toMatch(/^frozen /);
			expect(await sandbox?.ask('T')).toBe('thawed');
			await expectPrompt(shell);
			shell.type('fg\n');
			await shell.shown(/^on\n/m);
			await expectPrompt(shell);
		});
	});

	test('a hangup of the terminal ends the command', async () => {
		const shell = await outerShell('echo ready; exec sleep 1000', 'seccomp,landlock');
		shell.type('run\n');
		await shell.shown(/^ready\n/m);
		shell.kill();
		await shell.ended;
	});
});
