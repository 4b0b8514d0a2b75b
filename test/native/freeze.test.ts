import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import type { Launch } from '../support/launch.ts';
import { LaunchRig } from '../support/launch-rig.ts';
import { testProgram } from '../support/native-programs.ts';
import { argumentsOf, processTree, threadsOf } from '../support/process-tree.ts';
import { until } from '../support/until.ts';

const FREEZES = 8;

/** Between two looks at what is waited for. */
const nextLook = () => setTimeout(1);

/** A shell loop that writes, with one or more processes for each byte. */
const APPEND = 'sh -c "printf x >>progress"';
const LOADS: readonly (readonly [string, string])[] = [
	['one loop', 'while :; do printf x >>progress; done'],
	['a four-way fork storm', `for i in 1 2 3 4; do while :; do ${APPEND}; done & done; wait`],
	['orphans', `while :; do (${APPEND} &) ; done`],
	['a pipeline', 'while :; do printf x | cat >>progress; done'],
	[
		'sixty processes',
		'i=0; while [ $i -lt 60 ]; do sleep 1000 & i=$((i+1)); done; while :; do printf x >>progress; done',
	],
	['a shell in a shell in a shell', `sh -c "sh -c 'while :; do ${APPEND.replaceAll('"', '\\"')}; done'; :"; :`],
	['sessions of their own', `setsid sh -c 'while :; do printf x >>progress; done' & wait`],
	['threads', 'exec $BUSY progress threads 16'],
	['threads whose leader has ended', '$BUSY progress no-leader 1 & exec sleep 1000'],
	['threads beside one that waits in vfork', 'exec $BUSY progress vfork-waits 3'],
	['vfork after vfork', 'exec $BUSY progress vfork-loop'],
	['a chain of forks', '$BUSY progress fork-chain & exec sleep 1000'],
];

describe.each(accounts())('freezing, as $name', (account) => {
	let rig: LaunchRig;
	beforeEach(() => {
		rig = new LaunchRig(account);
	});
	afterEach(() => rig[Symbol.dispose]());

	const start = (script: string) =>
		rig.start(rig.plan(['sh', '-c', script.replaceAll('$BUSY', testProgram('busy'))], { control: true }));

	const progress = () => (existsSync(`${rig.upper}/progress`) ? statSync(`${rig.upper}/progress`).size : 0);
	async function progressBeyond(size: number): Promise<void> {
		while (progress() <= size) await nextLook();
	}

	/** The processes below PID 1 that are not dead, each with the states of its threads. */
	async function inside(launch: Launch): Promise<Map<number, string[]>> {
		const pids = processTree(await launch.init()).slice(1);
		const states = pids.map((pid) => [pid, threadsOf(pid).map(({ state }) => state)] as const);
		return new Map(states.filter(([, threads]) => threads.some((state) => state !== 'Z')));
	}

	/** The threads that may run; a thread in D waits for the child of its vfork, which is among the stopped ones. */
	async function running(launch: Launch): Promise<string[]> {
		return [...(await inside(launch)).values()].flat().filter((state) => !'TtZXD'.includes(state));
	}

	/** The first process that stands stopped, once there is one. */
	async function stoppedProcess(launch: Launch): Promise<number> {
		for (;;) {
			for (const [pid, states] of await inside(launch)) if (states[0] === 'T') return pid;
			await nextLook();
		}
	}

	async function end(launch: Launch): Promise<void> {
		launch.kill('SIGKILL');
		await launch.ended;
	}

	test.each(LOADS)('%s: nothing moves while frozen, everything goes on after', async (_name, script) => {
		const launch = start(script);
		for (let round = 0; round < FREEZES; round++) {
			await progressBeyond(progress());
			expect(await launch.ask('F')).toMatch(/^frozen \d+ procs [1-9]\d* rounds \d+$/);
			const [size, tree] = [progress(), await inside(launch)];
			for (let look = 0; look < 3; look++) {
				expect(await running(launch)).toEqual([]);
				expect([progress(), await inside(launch)]).toEqual([size, tree]);
			}
			expect(await launch.ask('T')).toBe('thawed');
		}
		await progressBeyond(progress());
		await end(launch);
	});

	test('processes that fork and end faster than they can be looked at are stopped all at once', async () => {
		const chains = 'i=0; while [ $i -lt 24 ]; do $BUSY progress fork-chain & i=$((i+1)); done';
		const launch = start(`sleep 1000 & kill -STOP $!; ${chains}; exec sleep 1000`);
		await progressBeyond(0);
		for (let round = 0; round < 2; round++) {
			const size = progress();
			await progressBeyond(size);
			expect(await launch.ask('F')).toMatch(/^frozen /);
			const frozen = progress();
			expect(await running(launch)).toEqual([]);
			expect(progress()).toBe(frozen);
			expect(await launch.ask('T')).toBe('thawed');
			await stoppedProcess(launch);
		}
		await end(launch);
	});

	test('a job that was stopped before stays stopped through freezes', async () => {
		const launch = start('sleep 1000 & kill -STOP $!; while :; do printf x >>progress; done');
		await progressBeyond(0);
		const sleeper = await stoppedProcess(launch);
		for (let round = 0; round < 5; round++) {
			expect(await launch.ask('F')).toMatch(/^frozen /);
			expect(await launch.ask('T')).toBe('thawed');
			expect(threadsOf(sleeper).map(({ state }) => state)).toEqual(['T']);
			await progressBeyond(progress());
		}
		await end(launch);
	});

	test('the end of control thaws', async () => {
		const launch = start('while :; do printf x >>progress; done');
		await progressBeyond(0);
		expect(await launch.ask('F')).toMatch(/^frozen /);
		const size = progress();
		launch.control.destroy();
		await progressBeyond(size);
		await end(launch);
	});

	test('the launcher killed while frozen: everything dies, stopped as it is', async () => {
		const launch = start('for i in 1 2 3 4 5 6 7 8; do sleep 1000 & done; while :; do printf x >>progress; done');
		await progressBeyond(0);
		expect(await launch.ask('F')).toMatch(/^frozen /);
		await end(launch);
	});

	test('a signal that comes while frozen acts after the thaw', async () => {
		const launch = start("trap 'exit 42' TERM; while :; do printf x >>progress; done");
		await progressBeyond(0);
		expect(await launch.ask('F')).toMatch(/^frozen /);
		launch.kill('SIGTERM');
		expect(await running(launch)).toEqual([]);
		expect(await launch.ask('T')).toBe('thawed');
		expect((await launch.ended).code).toBe(42);
	});

	test('the command killed while frozen ends the run with 137', async () => {
		const launch = start('while :; do printf x >>progress; done');
		await progressBeyond(0);
		expect(await launch.ask('F')).toMatch(/^frozen /);
		process.kill(processTree(await launch.init())[1] ?? 0, 'SIGKILL');
		const ended = await launch.ended;
		expect(ended.code).toBe(137);
		expect(ended.report).toContain('signal 9');
	});

	test('a continue from outside while frozen is reported', async () => {
		const launch = start('while :; do printf x >>progress; done');
		await progressBeyond(0);
		expect(await launch.ask('F')).toMatch(/^frozen /);
		launch.kill('SIGCONT');
		while (!/^disturbed$/m.test(launch.reported)) await nextLook();
		expect(await launch.ask('T')).toBe('thawed-disturbed');
		await end(launch);
	});

	test('the owner does not ask for the thaw in time: all goes on, and it is told when it asks', async () => {
		const launch = rig.start(rig.plan(['sh', '-c', 'while :; do printf x >>progress; done'], { control: 100 }));
		await progressBeyond(0);
		expect(await launch.ask('F')).toMatch(/^frozen /);
		await progressBeyond(progress());
		expect(await launch.ask('T')).toBe('thawed-before');
		expect(await launch.ask('T')).toBe('thawed');
		expect(await launch.ask('F')).toMatch(/^frozen /);
		expect(await launch.ask('T')).toBe('thawed');
		await end(launch);
	});

	test('a continue of the command from outside is told at the thaw, also when nothing else tells of it', async () => {
		const launch = start('while :; do printf x >>progress; done');
		for (let round = 0; round < 3; round++) {
			await progressBeyond(progress());
			expect(await launch.ask('F')).toMatch(/^frozen /);
			const size = progress();
			process.kill(processTree(await launch.init())[1] ?? 0, 'SIGCONT');
			await progressBeyond(size);
			expect(await launch.ask('T')).toBe('thawed-disturbed');
			expect(await launch.ask('F')).toMatch(/^frozen /);
			expect(await launch.ask('T')).toBe('thawed');
		}
		await end(launch);
	});

	test('requests out of order are answered and change nothing', async () => {
		const launch = start('while :; do printf x >>progress; done');
		await progressBeyond(0);
		expect(await launch.ask('T')).toBe('thawed');
		expect(await launch.ask('x')).toBe('error 22 unknown request');
		expect(await launch.ask('\nF\n')).toMatch(/^frozen /);
		expect(await launch.ask('F')).toMatch(/^error 114 /);
		expect(await running(launch)).toEqual([]);
		expect(await launch.ask('T')).toBe('thawed');
		await progressBeyond(progress());
		await end(launch);
	});

	test('a tree under strace freezes and goes on', async (context) => {
		if (!existsSync('/usr/bin/strace')) context.skip('there is no strace here');
		const launch = start(`exec strace -qq -f -o /dev/null sh -c 'while :; do ${APPEND}; done'`);
		for (let round = 0; round < FREEZES; round++) {
			await progressBeyond(progress());
			expect(await launch.ask('F')).toMatch(/^frozen /);
			const size = progress();
			expect(await running(launch)).toEqual([]);
			expect(progress()).toBe(size);
			expect(await launch.ask('T')).toBe('thawed');
		}
		await progressBeyond(progress());
		await end(launch);
	});

	test('a process that joined from outside freezes too', async () => {
		const launch = start('exec sleep 1000');
		const init = await launch.init();
		while (!/^started$/m.test(launch.reported)) await nextLook();
		const script = `cd ${rig.project}; while :; do printf x >>progress; done`;
		// Not nsenter: it stops itself with its child, and continues that when it is continued.
		const joined = spawn(testProgram('join'), [String(init), 'sh', '-c', script], {
			uid: account.uid,
			gid: account.gid,
			stdio: 'ignore',
		});
		const ended = new Promise((resolve) => joined.once('close', resolve));
		for (let round = 0; round < FREEZES; round++) {
			await progressBeyond(progress());
			expect(await launch.ask('F')).toMatch(/^frozen \d+ procs 2 /);
			const size = progress();
			expect(threadsOf(processTree(joined.pid ?? 0).at(-1) ?? 0).map(({ state }) => state)).toEqual(['T']);
			expect(progress()).toBe(size);
			expect(await launch.ask('T')).toBe('thawed');
		}
		await end(launch);
		await ended;
	});

	test('with the /proc of another pid namespace it says that it cannot', async () => {
		const launch = rig.start([
			...rig.enter(),
			['tree', 1, '/proc', 'rec'],
			['attach', 1, '/proc'],
			['control', 60_000],
			...rig.identity(),
			['exec', 1, 'cat'],
		]);
		expect(await launch.ask('F')).toMatch(/^error 18 /);
		launch.stdin.end();
		expect((await launch.ended).code).toBe(0);
	});

	test('a process that does not stop in five seconds: an error, and all goes on', async (context) => {
		if (userInfo().uid !== 0) context.skip('only root can make a control group');
		const kind = FREEZERS.find(({ root }) => existsSync(`${root}/cgroup.procs`));
		if (kind === undefined) return context.skip('there is no control group that freezes');
		const freezer = makeFreezer(kind);
		const launch = start('sleep 1000 & exec sh -c "while :; do printf x >>progress; done"');
		try {
			await progressBeyond(0);
			const init = await launch.init();
			// it may still be the shell that becomes it; to hold nobody, which is 0, would be to hold this very process
			const isSleeper = (pid: number) => argumentsOf(pid)[0] === 'sleep';
			freezer.hold(await until('the sleeper is there', () => processTree(init).find(isSleeper)));
			expect(await launch.ask('F')).toMatch(/^error 110 /);
			await progressBeyond(progress());
		} finally {
			freezer.release();
			await end(launch);
			freezer.remove();
		}
		expect(progress()).toBeGreaterThan(0);
	});
});

interface Freezer {
	hold(pid: number): void;
	release(): void;
	remove(): void;
}

const FREEZERS = [
	{ root: '/sys/fs/cgroup/freezer', file: 'freezer.state', hold: 'FROZEN', release: 'THAWED' },
	{ root: '/sys/fs/cgroup/unified', file: 'cgroup.freeze', hold: '1', release: '0' },
	{ root: '/sys/fs/cgroup', file: 'cgroup.freeze', hold: '1', release: '0' },
] as const;

/** A control group that keeps a process from taking any signal but SIGKILL. */
function makeFreezer(kind: (typeof FREEZERS)[number]): Freezer {
	const group = `${kind.root}/dropcloth-test-${process.pid}`;
	mkdirSync(group);
	return {
		hold(pid) {
			writeFileSync(`${group}/cgroup.procs`, String(pid));
			writeFileSync(`${group}/${kind.file}`, kind.hold);
		},
		release: () => writeFileSync(`${group}/${kind.file}`, kind.release),
		remove: () => rmdirSync(group),
	};
}
