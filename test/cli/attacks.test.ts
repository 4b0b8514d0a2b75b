import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GROUPS } from '../attacks/all-attacks.ts';
import { HIDDEN } from '../attacks/hidden.ts';
import { HOST_FILES } from '../attacks/host-files.ts';
import { accounts, presentAccount, type Ran } from '../support/accounts.ts';
import { AttackRig } from '../support/attack-rig.ts';
import { until } from '../support/until.ts';

const BACKENDS = ['kernel'];
const CASES = BACKENDS.flatMap((backend) => accounts().map((account) => ({ backend, account, who: account.name })));

describe.each(CASES)('over the $backend backend, an agent of $who cannot get at', ({ backend, account }) => {
	let attacked: AttackRig;
	let before: string[];
	let printed: Map<string, string>;
	let ran: Ran;

	beforeAll(async () => {
		attacked = await AttackRig.make(account);
		before = attacked.host();
		const mask = `${attacked.rig.place}/masked.sock`;
		const all = Object.values(GROUPS).flat();
		({ printed, ran } = attacked.run(all, ['--mount-backend', backend, '--mask', mask]));
	});
	afterAll(() => attacked[Symbol.dispose]());

	describe.each(Object.entries(GROUPS))('%s', (_, attacks) => {
		test.each(attacks)('$name', ({ name, seen }) => {
			const text = printed.get(name) ?? '';
			if (typeof seen === 'string') expect(text).toBe(seen);
			else expect(text).toMatch(seen);
			expect(text).not.toContain('SECRET');
		});
	});

	test('the host, which is as it was after all of it', async () => {
		expect(ran, ran.stderr).toMatchObject({ code: 0, signal: null });
		await until('all processes are gone', () => attacked.leftProcesses().length === 0);
		expect(attacked.host()).toEqual(before);
	});

	test('what the session holds, which is there as it was left', () => {
		const { cli } = attacked.rig;
		expect(cli.run(['quick', attacked.rig.project, '--', 'cat', 'file']).stdout).toBe('z\n');
		expect(cli.json<unknown[]>(['ps'])).toHaveLength(2);
		expect(cli.run(['quick', `${attacked.rig.place}/other`, '--', 'cat', 'f']).stdout).toBe('SECRET\n');
	});
});

test('a way out that is open is seen, in what an attack prints and on the host', async () => {
	using attacked = await AttackRig.make(presentAccount());
	const { place, cli } = attacked.rig;
	const before = attacked.host();
	const home = cli.account.home;
	const open = ['--bind', `${place}/outside`, '--bind', `${place}/other`, '--unmask', `${home}/.netrc`];
	const attacks = [...HOST_FILES, ...HIDDEN];
	const { printed } = attacked.run(attacks, open);
	expect(printed.get('files outside that are its own')).toMatch(/^1\n2\n/);
	expect(printed.get('credentials')).toContain('SECRET');
	const changed = attacked.host().filter((line) => !before.includes(line));
	expect(changed.filter((line) => line.includes('outside'))).not.toEqual([]);
});

test('two attacks have different names', () => {
	const names = Object.values(GROUPS).flatMap((attacks) => attacks.map(({ name }) => name));
	expect(new Set(names).size).toBe(names.length);
});
