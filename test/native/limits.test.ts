import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { LaunchRig, type Operation } from '../support/launch-rig.ts';

describe.each(accounts())('limits of the command, as $name', (account) => {
	let rig: LaunchRig;
	beforeEach(() => {
		rig = new LaunchRig(account);
	});
	afterEach(() => rig[Symbol.dispose]());

	const run = (script: string, ...limits: Operation[]) =>
		rig.start(rig.plan(['bash', '-c', script], { inside: limits }), { input: '' }).ended;

	test('each is set as asked, the soft and the hard one', async () => {
		const { stdout } = await run(
			'ulimit -Sv; ulimit -Hv; ulimit -Sc; ulimit -Su; ulimit -n; ulimit -t',
			['rlimit', 'as', 2 ** 30, 2 ** 31],
			['rlimit', 'core', 0, 0],
			['rlimit', 'nproc', 300, 400],
			['rlimit', 'nofile', 77, 77],
			['rlimit', 'cpu', 1000, 1000],
		);
		expect(stdout).toBe(`${2 ** 20}\n${2 ** 21}\n0\n300\n77\n1000\n`);
	});

	test('what takes more memory than there may be is refused it', async () => {
		const script = `python3 -c "bytearray(1 << 30)" 2>&1 | grep -o MemoryError`;
		expect((await run(script, ['rlimit', 'as', 2 ** 29, 2 ** 29])).stdout).toBe('MemoryError\n');
	});

	test('more processes than there may be are refused to a user; root is never refused', async () => {
		const script = `for i in 1 2 3 4 5 6 7 8; do sleep 1000 & done 2>/dev/null; echo all`;
		const ended = await run(script, ['rlimit', 'nproc', 4, 4]);
		expect(ended.stdout).toBe(account.uid === 0 ? 'all\n' : '');
	});

	test("a limit of the caller's that is lower stays", async () => {
		const plan = rig.plan(['bash', '-c', 'ulimit -Hn'], { inside: [['rlimit', 'nofile', 2 ** 40, 2 ** 40]] });
		const ended = await rig.start(plan).ended;
		expect(ended).toMatchObject({ code: 0, stdout: account.run(['bash', '-c', 'ulimit -Hn']).stdout });
	});

	test.each<[string, Operation, string]>([
		['an unknown name', ['rlimit', 'files', 1, 1], 'files'],
		['a soft limit above the hard one', ['rlimit', 'as', 2, 1], 'a soft limit above the hard one'],
		['no number', ['rlimit', 'as', 'much', 1], 'not a number in range: much'],
	])('%s is a failure of the plan', async (_name, limit, text) => {
		const ended = await run('true', limit);
		expect(ended).toMatchObject({ code: 125, failure: expect.stringMatching(new RegExp(` 22 rlimit ${text}$`)) });
	});
});
