import { describe, expect, test } from 'vitest';
import { ESCAPES } from '../../src/session/escapes.ts';
import { accounts } from '../support/accounts.ts';
import { sessionRig } from '../support/session-rig.ts';
import { treeLines } from '../support/tree-hash.ts';

interface Finding {
	readonly check: string;
	readonly ok: boolean;
	readonly detail: string;
	readonly remedy: string | null;
}

describe.each(accounts())('as $name', (account) => {
	test.each(['project', 'home', 'etc'])('doctor tries to get out of a sandbox, in %s, and leaves nothing', (where) => {
		using rig = sessionRig(account);
		rig.sh('mkdir ../home/.ssh; echo secret > ../home/.ssh/id; touch f; mkdir ../home/store');
		const { home } = rig.cli.account;
		const host = () => [rig.project, home].flatMap((path) => treeLines(path, { except: [rig.cli.storePath] }));
		const before = host();
		const cwd = where === 'project' ? rig.project : where === 'home' ? home : '/etc';
		const findings = rig.cli.json<Finding[]>(['doctor'], { cwd });
		const tried = findings.filter(({ check }) => check.startsWith('escape-'));
		expect(tried.map(({ check }) => check)).toEqual(ESCAPES.map(({ check }) => check));
		expect(tried.filter(({ ok }) => !ok)).toEqual([]);
		expect(rig.sh(`ls -A '${rig.cli.storePath}'`)).toBe('');
		expect(host()).toEqual(before);
	});

	test('a home that is not there keeps nothing from being tried', () => {
		using rig = sessionRig(account);
		const findings = rig.cli.json<Finding[]>(['doctor'], { env: { HOME: '/nowhere' } });
		expect(findings.filter(({ check, ok }) => check.startsWith('escape-') && ok)).toHaveLength(ESCAPES.length);
	});
});
