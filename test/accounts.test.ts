import { statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { accounts, ordinaryAccount } from './support/accounts.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

describe.each(accounts())('as $name', (account) => {
	test('a program runs with this user’s ids, no other groups, and a clean environment', () => {
		const ids = account.run(['sh', '-c', 'id -u; id -g; env | sort']).stdout.split('\n');
		expect(ids.slice(0, 2)).toEqual([String(account.uid), String(account.gid)]);
		expect(ids).toContain(`HOME=${account.home}`);
		expect(ids.filter((line) => /^(NODE|npm|VITEST|CI)/.test(line))).toEqual([]);
	});

	test('code, signal and both streams come back', () => {
		expect(account.run(['sh', '-c', 'echo out; echo err >&2; exit 3'])).toEqual({
			stdout: 'out\n',
			stderr: 'err\n',
			code: 3,
			signal: null,
		});
		expect(account.run(['sh', '-c', 'kill -TERM $$']).signal).toBe('SIGTERM');
	});

	test('a directory can be given to this user', () => {
		using place = temporaryDirectory();
		account.own(place.path);
		expect(statSync(place.path).uid).toBe(account.uid);
		expect(account.run(['touch', 'mine'], { cwd: place.path }).code).toBe(0);
	});
});

test('an ordinary user is not root and can’t read what root keeps private', () => {
	using place = temporaryDirectory();
	writeFileSync(place.join('private'), 'secret', { mode: 0o600 });
	const account = ordinaryAccount();
	expect(account.uid).toBeGreaterThan(0);
	expect(account.run(['id', '-G']).stdout.trim().split(' ')).toEqual([String(account.gid)]);
});
