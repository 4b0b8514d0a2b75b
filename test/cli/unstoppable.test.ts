import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { presentAccount } from '../support/accounts.ts';
import { LiveShell } from '../support/live-shell.ts';
import { sessionRig } from '../support/session-rig.ts';
import { PROJECT } from '../support/source-files.ts';

const FUSE = '/dev/fuse';

/** A directory that whoever looks into waits for, deep in the kernel, where no signal but SIGKILL is taken. */
async function deadDirectory(path: string): Promise<Disposable> {
	mkdirSync(path, { recursive: true });
	const server = spawn('python3', [join(PROJECT, 'test/support/dead-fuse.py'), path], {
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	await once(server.stdout, 'data');
	return {
		[Symbol.dispose]() {
			server.kill('SIGKILL');
			spawnSync('umount', ['-l', path]);
		},
	};
}

test('what cannot be stopped cannot keep a snapshot from being taken, and none is restored around it', async (context) => {
	if (userInfo().uid !== 0) context.skip('mounting a FUSE file system without its program needs root');
	if (!existsSync(FUSE)) context.skip(`there is no ${FUSE}`);
	using rig = sessionRig(presentAccount());
	const shared = join(rig.place, 'shared');
	using _ = await deadDirectory(join(shared, 'dead'));
	const shell = await LiveShell.start(rig, ['--bind', shared]);
	await shell.run(`echo one > file; cat '${shared}/dead/x' & true`);
	const taken = rig.cli.json<{ id: number }>(['snap', 'project', 'tag']);
	await shell.run('echo two > file');
	const { snapshots } = rig.cli.json<{ snapshots: { id: number; atRest: boolean }[] }>(['list', 'project']);
	expect(snapshots.find(({ id }) => id === taken.id)).toMatchObject({ atRest: false });

	expect(rig.cli.run(['restore', 'project', 'tag', '--yes'])).toMatchObject({ code: 3, stdout: '' });
	expect(await shell.run('cat file')).toBe('two\n');
	expect(rig.cli.run(['stop', 'project'])).toMatchObject({ code: 0 });
	await shell.ended;
	rig.cli.run(['restore', 'project', 'tag', '--yes']);
	expect(rig.inside('cat file')).toBe('one\n');
});
