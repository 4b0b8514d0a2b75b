import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { type SessionRig, sessionRig } from '../support/session-rig.ts';

/** A command line that cannot be obeyed: the exit code, and what the one line on stderr says. */
interface Refused {
	readonly what: string;
	readonly args: readonly string[];
	readonly code: number;
	readonly says: RegExp;
	/** Makes the trouble. */
	readonly before?: (rig: SessionRig) => void;
}

const database = ({ cli }: SessionRig) => join(cli.storePath, 'sessions/project/session.db');

const CASES: readonly Refused[] = [
	{
		what: 'a directory that is not there',
		args: ['quick', '/nowhere', '--', 'true'],
		code: 1,
		says: /no directory \/nowhere/,
	},
	{
		what: 'a file as the base',
		args: ['quick', '/etc/passwd', '--', 'true'],
		code: 1,
		says: /\/etc\/passwd is not a directory/,
	},
	{ what: 'the whole machine as the base', args: ['quick', '/', '--', 'true'], code: 1, says: /whole machine/ },
	{
		what: 'another base for a session that exists',
		args: ['run', 'project', '--base', '/etc', '--', 'true'],
		code: 2,
		says: /has its base already/,
	},
	{
		what: 'a base that vanished',
		args: ['run', 'project', '--', 'true'],
		code: 1,
		says: /no directory .*project/,
		before: ({ sh }) => sh('cd ..; mv project elsewhere'),
	},
	{
		what: 'a command that is not there',
		args: ['run', 'project', '--', 'no-such-command'],
		code: 127,
		says: /no-such-command: command not found/,
	},
	{
		what: 'a path to a command that is not there',
		args: ['run', 'project', '--', '/no/such'],
		code: 127,
		says: /\/no\/such: command not found/,
	},
	{
		what: 'a command that cannot be executed',
		args: ['run', 'project', '--', '/etc/passwd'],
		code: 126,
		says: /cannot be executed: permission denied/,
	},
	{
		what: 'an undo of an apply that would only say what it does',
		args: ['apply', 'project', '--undo', '--dry-run', '--yes'],
		code: 2,
		says: /--undo go with none of --dry-run/,
	},
	{ what: 'an unknown session', args: ['run', 'unknown', '--', 'true'], code: 5, says: /no session 'unknown'/ },
	{ what: 'a session name that is none', args: ['init', '../x'], code: 2, says: /cannot be a session's name/ },
	{ what: 'a session that exists', args: ['init', 'project'], code: 1, says: /exists already/ },
	{ what: 'an unknown command', args: ['frobnicate'], code: 2, says: /frobnicate/ },
	{ what: 'an unknown flag', args: ['list', '--frobnicate'], code: 2, says: /frobnicate/ },
	{ what: 'an unknown snapshot', args: ['restore', 'project', '99', '--yes'], code: 5, says: /99/ },
	{ what: 'a tag that is a number', args: ['snap', 'project', '12'], code: 2, says: /all digits/ },
	{ what: 'a restore that nobody can be asked about', args: ['restore', 'project', '1'], code: 2, says: /give --yes/ },
	{
		what: 'the FUSE backend',
		args: ['run', 'project', '--mount-backend', 'fuse', '--', 'true'],
		code: 4,
		says: /FUSE backend/,
	},
	{
		what: 'a bind of what is not there',
		args: ['run', 'project', '--bind', '/nowhere', '--', 'true'],
		code: 2,
		says: /\/nowhere/,
	},
	{
		what: 'a database that is garbage',
		args: ['list', 'project'],
		code: 5,
		says: /session\.db/,
		before: (rig) => writeFileSync(database(rig), 'x'.repeat(10_000)),
	},
	{
		what: 'a database that is cut',
		args: ['run', 'project', '--', 'true'],
		code: 5,
		says: /session\.db/,
		before: (rig) => truncateSync(database(rig), 9000),
	},
	{
		what: 'a database that is empty',
		args: ['status', 'project'],
		code: 5,
		says: /session\.db/,
		before: (rig) => truncateSync(database(rig), 0),
	},
	{
		what: 'a database of a newer version',
		args: ['list', 'project'],
		code: 5,
		says: /version 999/,
		before: (rig) => rig.sh(`sqlite3 '${database(rig)}' 'pragma user_version=999'`),
	},
	{
		what: 'a directory as the database',
		args: ['list', 'project'],
		code: 5,
		says: /directory/,
		before: (rig) => {
			rig.sh(`rm '${database(rig)}'`);
			mkdirSync(database(rig));
		},
	},
	{
		what: 'a path to a file with two names',
		args: ['list', 'home/store/sessions/project/session.db'],
		code: 5,
		says: /2 names/,
		before: (rig) => rig.sh(`ln '${database(rig)}' ../second`),
	},
];

describe.each(accounts())('as $name', (account) => {
	test.each(CASES)('$what is refused with $code', ({ args, code, says, before }) => {
		using rig = sessionRig(account);
		rig.inside('echo 1 > f');
		before?.(rig);

		const ran = rig.cli.run(args, { cwd: before === undefined ? rig.project : rig.place });
		expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' });
		expect(ran.stderr).toMatch(says);
		expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1);
	});

	test('a refusal with --json is one value on stdout', () => {
		using rig = sessionRig(account);
		const ran = rig.cli.run(['list', 'unknown', '--json']);
		expect(ran.code).toBe(5);
		expect(ran.stderr).toBe('');
		expect(JSON.parse(ran.stdout).error).toMatchObject({
			code: 'no-such-session',
			exit: 5,
			message: expect.any(String),
			hint: expect.any(String),
		});
	});

	test.each(['init x', 'doctor', 'ps'])('%s in a store where nothing can be made ends at once', (line) => {
		using rig = sessionRig(account);
		const ran = rig.cli.run(line.split(' '), { env: { DROPCLOTH_HOME: '/proc/nothing' }, timeoutMs: 20_000 });
		expect(ran.code).toBe(line === 'ps' ? 0 : 1);
	});

	test('a directory as standard input is refused, for it would be a way out', () => {
		using rig = sessionRig(account);
		const ran = rig.account.run(
			['sh', '-c', `exec '${process.execPath}' '${rig.cli.program}' quick '${rig.project}' -- true < /etc`],
			{
				env: { HOME: rig.cli.account.home, DROPCLOTH_HOME: rig.cli.storePath },
			},
		);
		expect(ran.code).toBe(4);
		expect(ran.stderr).toMatch(/directory/);
	});

	test('a symlink to the project is the project', () => {
		using rig = sessionRig(account);
		rig.inside('echo 1 > f');
		symlinkSync(rig.project, join(rig.place, 'link'));
		expect(rig.cli.run(['quick', join(rig.place, 'link'), '--', 'cat', 'f']).stdout).toBe('1\n');
		expect(rig.cli.json<unknown[]>(['ps'])).toHaveLength(1);
	});
});
