import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GROUPS } from '../attacks/all-attacks.ts';
import { accounts, type Ran } from '../support/accounts.ts';
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

test('two attacks have different names', () => {
	const names = Object.values(GROUPS).flatMap((attacks) => attacks.map(({ name }) => name));
	expect(new Set(names).size).toBe(names.length);
});
