import { spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import type { Launch, LaunchOptions } from '../support/launch.ts';
import { type JoinParts, LaunchRig } from '../support/launch-rig.ts';
import { builtLauncher } from '../support/native-programs.ts';
import { argumentsOf, processTree, threadsOf } from '../support/process-tree.ts';

/** Between two looks at what is waited for. */
const nextLook = () => setTimeout(1);

describe.each(accounts())('joining, as $name', (account) => {
	let rig: LaunchRig;
	const running: Launch[] = [];
	beforeEach(() => {
		rig = new LaunchRig(account);
	});
	afterEach(async () => {
		for (const launch of running.splice(0)) {
			launch.kill('SIGKILL');
			await launch.ended;
		}
		rig[Symbol.dispose]();
	});

	/** A sandbox whose first command has begun. */
	async function sandbox(script = 'exec sleep 1000', parts = {}): Promise<Launch> {
		const launch = rig.start(rig.plan(['sh', '-c', script], { control: true, ...parts }));
		running.push(launch);
		while (!/^started$/m.test(launch.reported)) await nextLook();
		return launch;
	}

	async function join(into: Launch, script: string, parts: JoinParts = {}, options: LaunchOptions = {}) {
		const launch = rig.start(rig.joinPlan(await into.init(), ['sh', '-c', script], parts), options);
		running.push(launch);
		return launch;
	}

	test('it is in the namespaces of the sandbox, and in no other', async () => {
		const first = await sandbox();
		const joined = await join(first, 'echo in; exec sleep 1000');
		await joined.said(/in/);
		const [pid = 0] = processTree(joined.pid).slice(-1);
		const init = await first.init();
		for (const name of ['mnt', 'pid', 'ipc', 'uts', 'net'])
			expect(readlinkSync(`/proc/${pid}/ns/${name}`)).toBe(readlinkSync(`/proc/${init}/ns/${name}`));
		expect(readlinkSync(`/proc/${pid}/ns/user`)).not.toBe(readlinkSync(`/proc/${init}/ns/user`));
	});

	test('it sees what the first command does, and the other way round', async () => {
		const first = await sandbox('echo from first >a; echo ready; read line; cat b');
		await first.said(/ready/);
		const joined = await join(first, 'pwd; cat a; echo from joined >b; ls /proc | grep -c "^[0-9]"').then(
			({ ended }) => ended,
		);
		expect(joined).toMatchObject({ code: 0, failure: '' });
		expect(joined.stdout).toMatch(new RegExp(`^${rig.project}\nfrom first\n[45]\n$`));
		first.stdin.end('\n');
		expect((await first.ended).stdout).toBe('ready\nfrom joined\n');
		expect(readFileSync(`${rig.upper}/b`, 'utf8')).toBe('from joined\n');
	});

	test('it is reported like a first command, with the PID 1 that it joined', async () => {
		const first = await sandbox();
		const { report, code } = await (await join(first, 'exit 7')).ended;
		expect(code).toBe(7);
		expect([...report].sort()).toEqual(['exit 7', `init ${await first.init()}`, 'started']);
		expect((await (await join(first, 'kill -SEGV $$')).ended).report).toContain('signal 11');
		expect((await (await join(first, 'exec /no/such')).ended).code).toBe(127);
		const missing = rig.start(rig.joinPlan(await first.init(), ['no-such-command']));
		expect(await missing.ended).toMatchObject({ code: 127, report: expect.arrayContaining(['exec-failed 2']) });
	});

	test('the same ids, capabilities, signals and filters as the first command', async () => {
		const show = "grep -E '^(Uid|Gid|Cap|Sig[BI]|NoNew|Seccomp:|Umask)' /proc/self/status; cat /proc/self/uid_map";
		const first = await sandbox(`${show}; echo done; exec sleep 1000`);
		const of = await first.said(/done\n/);
		expect((await (await join(first, `${show}; echo done`)).ended).stdout).toBe(of);
	});

	test('inherited descriptors are closed, a directory as stream is refused, the directory of the plan holds', async () => {
		const first = await sandbox();
		const extra = openSync('/etc/passwd', 'r');
		const directory = openSync('/', constants.O_RDONLY | constants.O_DIRECTORY);
		try {
			const joined = await join(first, 'ls /proc/$$/fd; pwd', { directory: '/usr' }, { more: [extra, extra] });
			expect((await joined.ended).stdout).toBe('0\n1\n2\n/usr\n');
			const refused = await join(first, 'true', {}, { stdio: [directory] });
			expect((await refused.ended).failure).toBe('fail 0 21 start a standard descriptor is a directory');
		} finally {
			closeSync(extra);
			closeSync(directory);
		}
		const missing = await (await join(first, 'true', { directory: '/no/such' })).ended;
		expect(missing).toMatchObject({ code: 125, failure: expect.stringMatching(/^fail \d+ 2 chdir \/no\/such$/) });
	});

	test('it can stop what the first command started', async () => {
		const first = await sandbox('sleep 1000 & echo $!; wait $!; echo "server ended $?"; exit 3');
		const server = (await first.said(/\d+\n/)).trim();
		expect((await (await join(first, `kill ${server}`)).ended).code).toBe(0);
		expect(await first.ended).toMatchObject({ code: 3, stdout: `${server}\nserver ended 143\n` });
	});

	test('kill 0 in it hits it and not the caller', async () => {
		const first = await sandbox();
		const script = 'trap "echo hit; exit 3" TERM; kill -TERM 0; exit 4';
		const plan = rig.planFile(rig.joinPlan(await first.init(), ['sh', '-c', script]), 'join-plan');
		const caller = `{ "$0" $BASHPID 3<"$1" 4>/dev/null; echo "caller goes on after $?"; } | { cat; echo sibling lives; }`;
		const ran = account.run(['setsid', '--wait', 'bash', '-c', caller, builtLauncher(), plan], { cwd: '/' });
		expect(ran.stdout).toBe('hit\ncaller goes on after 3\nsibling lives\n');
	});

	test.each(['TERM', 'USR1', 'HUP', 'INT'] as const)('SIG%s to the launcher reaches a trap', async (name) => {
		const first = await sandbox();
		const joined = await join(
			first,
			`trap 'exit 42' ${name}; echo ready; while :; do sleep 1000 >/dev/null 2>&1 & wait; done`,
		);
		await joined.said(/ready/);
		joined.kill(`SIG${name}`);
		expect(await joined.ended).toMatchObject({ code: 42, report: expect.arrayContaining(['exit 42']) });
	});

	test('killed, it takes its command with it, and the sandbox goes on', async () => {
		const first = await sandbox();
		const joined = await join(first, 'echo ready; exec sleep 1001');
		await joined.said(/ready/);
		joined.kill('SIGKILL');
		expect((await joined.ended).signal).toBe('SIGKILL');
		expect((await (await join(first, 'echo on')).ended).stdout).toBe('on\n');
	});

	test('its caller killed: it dies', async () => {
		const first = await sandbox();
		const plan = rig.planFile(rig.joinPlan(await first.init(), ['sh', '-c', 'echo ready; exec sleep 1002']), 'joining');
		const caller = spawn('bash', ['-c', '"$0" $$ 3<"$1" 4>/dev/null; exit $?', builtLauncher(), plan], {
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

	test('its outer process killed: it dies, though it has taken back that it dies with its parent', async () => {
		const first = await sandbox();
		const joined = await join(first, 'exec setpriv --pdeathsig clear sh -c "echo ready; exec sleep 1004"');
		await joined.said(/ready/);
		const [waiter = 0, command = 0] = processTree(joined.pid).slice(-2);
		// what waits for it cannot be held up either
		process.kill(waiter, 'SIGSTOP');
		joined.kill('SIGKILL');
		await joined.ended;
		while (existsSync(`/proc/${command}`)) await nextLook();
	});

	test('the end of the sandbox ends it, reported as a signal', async () => {
		const first = await sandbox();
		const joined = await join(first, 'echo ready; exec sleep 1003');
		await joined.said(/ready/);
		first.kill('SIGKILL');
		expect(await joined.ended).toMatchObject({ code: 137, report: expect.arrayContaining(['signal 9']) });
	});

	test('a sandbox that has ended, another process of the same id, and one that is no sandbox are told', async () => {
		const first = await sandbox();
		const init = await first.init();
		const other = await (await join(first, 'true', { start: '1' })).ended;
		expect(other).toMatchObject({ code: 125, failure: 'fail 0 3 join the sandbox has ended' });
		first.kill('SIGKILL');
		await first.ended;
		const gone = await rig.start(rig.joinPlan(init, ['true'], { start: '1' })).ended;
		expect(gone).toMatchObject({ code: 125, failure: 'fail 0 3 join the sandbox has ended' });
		const host = await rig.start(rig.joinPlan(process.pid, ['true'])).ended;
		expect(host.failure).toBe(
			account.uid === 0
				? 'fail 0 22 join not the first process of a sandbox'
				: `fail 0 13 join /proc/${process.pid}/ns/user`,
		);
	});

	test('a sandbox that ends while others join: each has run, or is told so', async () => {
		for (let round = 0; round < 8; round++) {
			const first = await sandbox('read line');
			const init = await first.init();
			const plan = rig.joinPlan(init, ['true']);
			const joined = [0, 1, 2].map(() => rig.start(plan));
			if (round % 2 === 0) first.stdin.end('\n');
			else first.kill('SIGKILL');
			for (const { ended } of joined) {
				const { code, failure, report } = await ended;
				if (code === 125) expect(failure).toBe('fail 0 3 join the sandbox has ended');
				else expect(report).toContain(code === 0 ? 'exit 0' : 'signal 9');
			}
			await first.ended;
		}
	});

	describe('and the end', () => {
		test('the sandbox goes on until all that joined has ended, and ends with the code of the command', async () => {
			const first = await sandbox('read line; exit 9');
			const joined = [await join(first, 'echo ready; read line; exit 4'), await join(first, 'echo ready; read line')];
			for (const { said } of joined.map((launch) => ({ said: launch.said(/ready/) }))) await said;
			first.stdin.end('\n');
			await first.told(/^waiting 2$/m);
			expect(first.reported).toMatch(/^exit 9$/m);
			expect(first.reported).toMatch(/^waiting 2$/m);
			expect((await (await join(first, 'echo late')).ended).stdout).toBe('late\n');
			expect(await first.ask('F')).toMatch(/^frozen \d+ procs 2 /);
			expect(await first.ask('T')).toBe('thawed');
			joined[0]?.stdin.end('\n');
			expect((await joined[0]?.ended)?.code).toBe(4);
			expect(processTree(first.pid).length).toBe(2);
			joined[1]?.stdin.end('\n');
			expect(await joined[1]?.ended).toMatchObject({ code: 0 });
			expect((await first.ended).code).toBe(9);
		});

		test('what a joined command left in the background ends with the sandbox, which does not wait for it', async () => {
			const first = await sandbox('read line; exit 2');
			const joined = await join(first, 'sleep 1000 >/dev/null 2>&1 & echo ready; read line');
			await joined.said(/ready/);
			first.stdin.end('\n');
			await first.told(/^waiting 1$/m);
			joined.stdin.end('\n');
			expect((await joined.ended).code).toBe(0);
			expect((await first.ended).code).toBe(2);
		});

		test('without anything joined nobody waits', async () => {
			const first = await sandbox('sleep 1000 & exit 2');
			expect((await first.ended).report).not.toContainEqual(expect.stringMatching(/^waiting/));
		});

		test('a signal to the launcher then reaches what has joined', async () => {
			const first = await sandbox('read line; kill -TERM $$');
			const joined = await join(first, "trap 'exit 43' USR1; echo ready; while :; do read line || sleep 1; done");
			const other = await join(first, 'echo ready; exec sleep 1004');
			await Promise.all([joined.said(/ready/), other.said(/ready/)]);
			first.stdin.end('\n');
			await first.told(/^waiting 2$/m);
			first.kill('SIGUSR1');
			expect((await joined.ended).code).toBe(43);
			expect((await other.ended).report).toContain('signal 10');
			expect(await first.ended).toMatchObject({ code: 143, report: expect.arrayContaining(['signal 15']) });
		});
	});

	describe('and the freeze', () => {
		const progress = () => (existsSync(`${rig.upper}/progress`) ? statSync(`${rig.upper}/progress`).size : 0);
		async function progressBeyond(size: number): Promise<void> {
			while (progress() <= size) await nextLook();
		}
		const statesBelow = (pid: number) => processTree(pid).map((id) => threadsOf(id)[0]?.state ?? '');

		test('it stops what has joined, and those who wait for it stay awake', async () => {
			const first = await sandbox();
			const joined = await join(first, 'while :; do printf x >>progress; done');
			for (let round = 0; round < 8; round++) {
				await progressBeyond(progress());
				expect(await first.ask('F')).toMatch(/^frozen \d+ procs 2 /);
				const size = progress();
				expect(statesBelow(joined.pid).map((state) => state === 'T')).toEqual([false, false, true]);
				expect(progress()).toBe(size);
				expect(await first.ask('T')).toBe('thawed');
			}
			await progressBeyond(progress());
			expect(statesBelow(joined.pid).slice(0, 2)).not.toContain('T');
		});

		test('who joins while all is frozen begins after the thaw', async () => {
			const first = await sandbox();
			expect(await first.ask('F')).toMatch(/^frozen /);
			const joined = await join(first, 'echo x >progress');
			while (argumentsOf(processTree(joined.pid)[2] ?? 0).length === 0) await nextLook();
			for (let look = 0; look < 20; look++) {
				expect(progress()).toBe(0);
				await nextLook();
			}
			expect(await first.ask('T')).toBe('thawed');
			expect((await joined.ended).code).toBe(0);
			expect(progress()).toBe(2);
		});
	});
});
