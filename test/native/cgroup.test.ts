import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, type TestContext, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { DelegatedGroup, groupHierarchy } from '../support/delegated-group.ts';
import type { Launch } from '../support/launch.ts';
import { LaunchRig, type PlanParts } from '../support/launch-rig.ts';
import { processTree, threadsOf } from '../support/process-tree.ts';
import { until } from '../support/until.ts';

const APPEND = 'while :; do printf x >>progress; done';

describe.each(accounts())('in a control group, as $name', (account) => {
	let rig: LaunchRig;
	let group: DelegatedGroup;
	const running: Launch[] = [];
	beforeEach((context: TestContext) => {
		const root = groupHierarchy();
		if (root === null) return context.skip('only root can make a control group, and only of version 2');
		rig = new LaunchRig(account);
		group = new DelegatedGroup(root, account);
	});
	afterEach(async () => {
		for (const launch of running.splice(0)) {
			launch.kill('SIGKILL');
			await launch.ended;
		}
		await group?.[Symbol.asyncDispose]();
		rig?.[Symbol.dispose]();
	});

	const start = (script: string, parts: PlanParts = {}) => {
		const plan = rig.plan(['sh', '-c', script], { first: [['cgroup', group.path]], control: true, ...parts });
		const launch = rig.start(plan);
		running.push(launch);
		return launch;
	};
	async function join(into: Launch, script: string): Promise<Launch> {
		const first = [['cgroup', group.path]];
		const launch = rig.start(rig.joinPlan(await into.init(), ['sh', '-c', script], { first }));
		running.push(launch);
		return launch;
	}

	const progress = () => (existsSync(`${rig.upper}/progress`) ? statSync(`${rig.upper}/progress`).size : 0);
	const progressBeyond = (size: number) => until('progress', () => progress() > size);
	const isInGroup = (pid: number) => readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes('/sandbox\n');
	/** What is frozen by its group waits in state S or D; that it moves is seen by what it does alone. */
	const isStopped = (pid: number) => threadsOf(pid).some(({ state }) => state === 'T');
	async function expectStandstill(): Promise<void> {
		const size = progress();
		for (let look = 0; look < 5; look++) {
			await new Promise((resolve) => setImmediate(resolve));
			expect(progress()).toBe(size);
		}
	}

	test('the command and what it starts are in it; the launcher and PID 1 are not', async () => {
		const launch = start(`sleep 1000 & ${APPEND}`);
		await progressBeyond(0);
		const joined = await join(launch, 'echo ready; exec sleep 1000');
		await joined.said(/ready/);
		const [init = 0, command = 0, sleeper = 0] = processTree(await launch.init());
		expect([launch.pid, init, command, sleeper].map(isInGroup)).toEqual([false, false, true, true]);
		expect(processTree(joined.pid).map(isInGroup)).toEqual([false, false, true]);
	});

	test('nothing in it moves while frozen, nothing is stopped by a signal, everything goes on after', async () => {
		const launch = start(`${APPEND} & ${APPEND} & while :; do (: & :); done`);
		const joined = await join(launch, `cd ${rig.project}; ${APPEND}`);
		for (let round = 0; round < 8; round++) {
			await progressBeyond(progress());
			expect(await launch.ask('F')).toMatch(/^frozen \d+ procs [1-9]\d* rounds 1 by cgroup$/);
			await expectStandstill();
			expect([...processTree(await launch.init()), ...processTree(joined.pid)].filter(isStopped)).toEqual([]);
			expect(await launch.ask('T')).toBe('thawed');
		}
		await progressBeyond(progress());
	});

	test('a continue from outside moves nothing', async () => {
		const launch = start(APPEND);
		await progressBeyond(0);
		expect(await launch.ask('F')).toMatch(/^frozen /);
		for (const pid of processTree(launch.pid)) process.kill(pid, 'SIGCONT');
		await expectStandstill();
		expect(await launch.ask('T')).toBe('thawed');
		expect(launch.reported).not.toMatch(/^disturbed$/m);
		await progressBeyond(progress());
	});

	test('who joins while all is frozen begins after the thaw', async () => {
		const launch = start('exec sleep 1000');
		await until('the start', () => /^started$/m.test(launch.reported));
		expect(await launch.ask('F')).toMatch(/^frozen /);
		const joined = await join(launch, 'echo x >progress');
		await until('a process in the group', () => processTree(joined.pid).some(isInGroup));
		await expectStandstill();
		expect(await launch.ask('T')).toBe('thawed');
		expect((await joined.ended).code).toBe(0);
		expect(progress()).toBe(2);
	});

	test('the owner that goes away, and one that does not ask for the thaw, leave nothing frozen', async () => {
		const late = start(APPEND, { control: 100 });
		await progressBeyond(0);
		expect(await late.ask('F')).toMatch(/^frozen /);
		await progressBeyond(progress());
		expect(await late.ask('T')).toBe('thawed-before');
		expect(await late.ask('F')).toMatch(/^frozen /);
		late.control.destroy();
		await progressBeyond(progress());
	});

	test('killed while frozen everything dies, and the next run in the group goes on', async () => {
		const launch = start(`sleep 1000 & ${APPEND}`);
		await progressBeyond(0);
		expect(await launch.ask('F')).toMatch(/^frozen /);
		launch.kill('SIGKILL');
		await launch.ended;
		await until('an empty group', () => readFileSync(`${group.path}/cgroup.procs`, 'utf8') === '');
		expect(readFileSync(`${group.path}/cgroup.freeze`, 'utf8')).toBe('1\n');
		expect((await start('exit 5').ended).code).toBe(5);
		writeFileSync(`${group.path}/cgroup.freeze`, '0');
	});

	test('a group that is not there, or that is not the caller’s, is a failure of the plan', async () => {
		const gone = await start('true', { first: [['cgroup', `${group.path}/gone`]] }).ended;
		expect(gone).toMatchObject({ code: 125, failure: `fail 0 2 cgroup ${group.path}/gone` });
		const none = await start('true', { first: [['cgroup', rig.project]] }).ended;
		expect(none.failure).toBe('fail 0 2 cgroup cgroup.procs');
		if (account.uid === 0) return;
		const foreign = await start('true', { first: [['cgroup', `${group.path}/../callers`]] }).ended;
		expect(foreign.failure).toBe('fail 0 13 cgroup cgroup.procs');
	});
});
