import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { encodePlan, LaunchRig, type Operation } from '../support/launch-rig.ts';

describe.each(accounts())('a plan that is wrong, as $name', (account) => {
	let rig: LaunchRig;
	beforeEach(() => {
		rig = new LaunchRig(account);
	});
	afterEach(() => rig[Symbol.dispose]());

	const failureOf = async (plan: Operation[] | Buffer) => {
		const ended = await rig.start(plan).ended;
		expect(ended.code).toBe(125);
		expect(ended.report.filter((line) => !line.startsWith('init '))).toEqual([ended.failure]);
		return ended.failure;
	};
	const command: Operation = ['exec', 1, 'true'];

	test.each<[string, Buffer, string]>([
		['nothing at all', Buffer.alloc(0), 'fail 0 22 plan the plan is empty'],
		['text', Buffer.from('hello\n'), 'fail 0 22 plan the plan was cut short: its last word does not end'],
		['another version', Buffer.from('plan 2\0'), 'fail 0 22 plan not a plan of version 1'],
		[
			'a word that does not end',
			Buffer.from('plan 1\0init\0exe'),
			'fail 0 22 plan the plan was cut short: its last word does not end',
		],
		['no operation', Buffer.from('plan 1\0'), 'fail 0 22 plan the plan ends without exec'],
		['more than 4 MiB', Buffer.alloc(5 << 20, 'x\0'), 'fail 0 7 plan the plan is too long'],
		[
			'too many words',
			Buffer.from('plan 1\0'.concat('x\0'.repeat(300_000))),
			'fail 0 7 plan the plan has too many words',
		],
	])('%s', async (_name, bytes, failure) => {
		expect(await failureOf(bytes)).toBe(failure);
	});

	test('an operation that does not exist is named, control characters replaced', async () => {
		const enter = rig.enter();
		expect(await failureOf([...enter, ['frob\nexit 0', 'x'], command])).toBe(
			`fail ${enter.length} 22 plan unknown operation frob?exit 0`,
		);
	});

	test('operands that are missing', async () => {
		const enter = rig.enter();
		expect(await failureOf([...enter, ['mkdir', '/x']])).toBe(
			`fail ${enter.length} 22 plan operands are missing after mkdir`,
		);
		expect(await failureOf([...enter, ['exec', 5, 'true']])).toBe(
			`fail ${enter.length} 22 plan operands are missing after exec`,
		);
		expect(await failureOf([...enter, ['exec', 'many', 'true']])).toBe(
			`fail ${enter.length} 22 plan operands are missing after exec`,
		);
		expect(await failureOf([...enter, ['exec', '99999999999999999999', 'true']])).toBe(
			`fail ${enter.length} 22 plan operands are missing after exec`,
		);
	});

	test('every plan that is cut at a word fails before anything is done', async () => {
		const whole = rig.plan(['echo', 'ran']);
		const words = encodePlan(whole).toString('latin1').split('\0').slice(0, -1);
		for (let count = 1; count < words.length; count += 3) {
			const cut = Buffer.from(
				words
					.slice(0, count)
					.map((word) => `${word}\0`)
					.join(''),
				'latin1',
			);
			const ended = await rig.start(cut).ended;
			expect(ended.report).toEqual([expect.stringMatching(/^fail \d+ 22 plan /)]);
			expect(ended.stdout).toBe('');
		}
	});

	test('random bytes', async () => {
		for (let round = 0; round < 20; round++) {
			const bytes = Buffer.concat([Buffer.from('plan 1\0'), randomBytes(200), Buffer.from([0])]);
			expect(await failureOf(bytes)).toMatch(/^fail \d+ 22 plan unknown operation /);
		}
	});

	test('exec is the last operation, and a command has a word', async () => {
		const enter = rig.enter();
		expect(await failureOf([...enter, command, ['private']])).toMatch(/ 22 plan an operation after exec: private$/);
		expect(await failureOf([...enter, ['exec', 0]])).toMatch(/ 22 exec a command has at least one word$/);
		expect(await failureOf(enter)).toMatch(/ 22 plan the plan ends without exec$/);
	});

	test('mounts are for PID 1 in namespaces of its own', async () => {
		expect(await failureOf([['setattr', '/', 'ro', 'rec'], command])).toBe(
			'fail 0 22 plan must come after init: setattr',
		);
		expect(await failureOf([...rig.enter(), ['init'], command])).toMatch(/ 22 plan must come before init: init$/);
		expect(await failureOf([['init'], command])).toBe('fail 0 22 init init needs mount and pid namespaces of its own');
	});

	test('a namespace that does not exist', async () => {
		expect(await failureOf([['unshare', 'user,mount,time'], ['init'], command])).toBe(
			'fail 0 22 unshare an unknown namespace',
		);
	});

	test('a map that the kernel does not take', async () => {
		expect(await failureOf([['unshare', 'user,mount,pid'], ['map', 'nonsense', '0 0 1'], ['init'], command])).toBe(
			'fail 1 22 map /proc/self/uid_map',
		);
		const enter = rig.enter();
		expect(await failureOf([...enter, ['cmd-map', 'nonsense', '0 0 1'], command])).toMatch(
			new RegExp(`^fail ${enter.length} 22 cmd-map /proc/\\d+/uid_map$`),
		);
	});

	test('no plan at all', async () => {
		const { builtLauncher } = await import('../support/native-programs.ts');
		const ran = account.run(['sh', '-c', '"$0" $$ 3<&- 4>&1; exit $?', builtLauncher()], { cwd: '/' });
		expect(ran).toMatchObject({ code: 125, stdout: 'fail 0 9 start no plan on descriptor 3\n' });
	});

	test('a plan through a pipe is read to its end', async () => {
		const { builtLauncher } = await import('../support/native-programs.ts');
		const path = rig.planFile(rig.plan(['echo', 'through a pipe']));
		const script = `cat "$1" | { "$0" $$ 3<&0 </dev/null 4>/dev/null; exit $?; }`;
		const ran = account.run(['bash', '-c', script.replace('$$', '$BASHPID'), builtLauncher(), path], { cwd: '/' });
		expect(ran).toMatchObject({ code: 0, stdout: 'through a pipe\n' });
	});
});
