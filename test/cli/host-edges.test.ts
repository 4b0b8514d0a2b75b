import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { accounts, ordinaryAccount, presentAccount } from '../support/accounts.ts';
import { dropcloth } from '../support/built-program.ts';
import { sessionRig } from '../support/session-rig.ts';

describe.each(accounts())('as $name', (account) => {
	test('a file given as standard input is read to its end and cannot be written through', () => {
		using rig = sessionRig(account);
		rig.sh('echo host > ../input');
		const script = 'cat; echo agent > /proc/self/fd/0 || true; (exec 3<>/proc/self/fd/0; echo agent >&3) || true';
		const ran = rig.account.run(
			[
				'sh',
				'-c',
				`exec '${process.execPath}' '${rig.cli.program}' quick '${rig.project}' -- sh -c "$1" < ../input`,
				'sh',
				script,
			],
			{ cwd: rig.project, env: { HOME: rig.cli.account.home, DROPCLOTH_HOME: rig.cli.storePath } },
		);
		expect(ran.stdout).toBe('host\n');
		expect(readFileSync(join(rig.place, 'input'), 'utf8')).toBe('host\n');
	});

	test('a file as standard input that cannot be read: the command sees its end, and the run goes on', () => {
		using rig = sessionRig(account);
		const ran = rig.account.run(
			[
				'sh',
				'-c',
				`exec '${process.execPath}' '${rig.cli.program}' quick '${rig.project}' -- sh -c 'cat; echo 1 > f; exit 3' 0> ../output`,
			],
			{ cwd: rig.project, env: { HOME: rig.cli.account.home, DROPCLOTH_HOME: rig.cli.storePath } },
		);
		expect(ran.stderr).toBe('dropcloth: standard input cannot be read: EBADF: bad file descriptor, read\n');
		expect(ran.code).toBe(3);
		expect(rig.inside('cat f')).toBe('1\n');
	});

	test('a store that is reached through a symlink is used where it lies', () => {
		using rig = sessionRig(account);
		rig.sh('mkdir ../disk; ln -s disk ../link');
		const env = { DROPCLOTH_HOME: join(rig.place, 'link/store') };
		expect(rig.cli.run(['quick', rig.project, '--', 'sh', '-c', 'echo 1 > f; cat f'], { env }).stdout).toBe('1\n');
		expect(rig.cli.run(['quick', rig.project, '--', 'cat', 'f'], { env }).stdout).toBe('1\n');
	});

	test('a layer deeper than a path can be long is undone and discarded', () => {
		using rig = sessionRig(account);
		rig.inside("python3 -c \"import os\nfor _ in range(60): os.mkdir('d' * 100); os.chdir('d' * 100)\"");
		rig.cli.json(['undo', 'project', '--yes']);
		rig.cli.json(['redo', 'project', '--yes']);
		rig.cli.json(['discard', 'project', '--yes']);
		expect(rig.cli.json(['ps'])).toEqual([]);
		expect(rig.sh(`ls -A '${rig.cli.storePath}/sessions'`)).toBe('');
	});

	test('a writable bind is told once, and writes there reach the host', () => {
		using rig = sessionRig(account);
		rig.sh('mkdir ../shared');
		const shared = join(rig.place, 'shared');
		const ran = rig.cli.run(['quick', rig.project, '--bind', shared, '--', 'sh', '-c', `echo x > '${shared}/f'`]);
		expect(ran.stderr.split('\n').filter((line) => line.includes(shared))).toHaveLength(1);
		expect(ran.stderr).toMatch(/reach the host/);
		expect(readFileSync(join(shared, 'f'), 'utf8')).toBe('x\n');
	});

	test('what the host changed since is told by diff and status, and stops apply where both changed it', () => {
		using rig = sessionRig(account);
		rig.sh('echo 1 > both; echo 1 > ours; echo 1 > theirs');
		rig.inside('echo 2 > both; echo 2 > ours');
		rig.sh('echo 3 > both; echo 3 > theirs');

		expect(rig.cli.json<{ baseDrift: string[] }>(['diff', 'project']).baseDrift).toEqual(['both']);
		expect(rig.cli.run(['diff', 'project']).stderr).toMatch(/changed on the host too: both/);
		expect(rig.cli.json<{ baseDrift: string[] }>(['status', 'project']).baseDrift).toEqual(['both']);
		const refused = rig.cli.run(['apply', 'project', '--yes']);
		expect({ code: refused.code, stderr: refused.stderr }).toEqual({
			code: 6,
			stderr: expect.stringMatching(/1 path changed on both sides/),
		});
		expect(rig.sh('cat both ours theirs')).toBe('3\n1\n3\n');
		rig.cli.json(['apply', 'project', '--yes', '--only', 'ours']);
		expect(rig.sh('cat both ours theirs')).toBe('3\n2\n3\n');
		rig.cli.json(['apply', 'project', '--yes', '--ours']);
		expect(rig.sh('cat both ours theirs')).toBe('2\n2\n3\n');
	});
});

test('root is refused on the session of another user, who would be locked out by what it leaves', (context) => {
	const [root, user] = [presentAccount(), ordinaryAccount()];
	if (root.uid !== 0) context.skip('only root can work on the files of another user');
	using rig = sessionRig(user);
	rig.inside('echo 1 > f');
	const asRoot = dropcloth(root, rig.cli.storePath);
	for (const args of [
		['run', 'project', '--', 'true'],
		['undo', 'project', '--yes'],
		['snap', 'project'],
	]) {
		expect(asRoot.run(args)).toMatchObject({
			code: 1,
			stdout: '',
			stderr: `dropcloth: session 'project' belongs to the user of id ${user.uid} (work on it as that user)\n`,
		});
	}
	expect(asRoot.run(['list', 'project']).code).toBe(0);
	expect(rig.inside('cat f')).toBe('1\n');
});
