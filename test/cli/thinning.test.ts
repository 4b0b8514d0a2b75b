import { describe, expect, test } from 'vitest';
import { OwnedSession } from '../../src/session/session.ts';
import { placeInStore } from '../../src/session/session-place.ts';
import { writeTruth } from '../../src/session/truth.ts';
import { accounts, presentAccount } from '../support/accounts.ts';
import { fileChange } from '../support/file-content.ts';
import { type SessionRig, sessionRig } from '../support/session-rig.ts';

describe.each(accounts())('as $name', (account) => {
	test('the end of a run thins old automatic checkpoints out, and history is as right as before', async () => {
		using rig = sessionRig(account);
		rig.inside('echo first > f');
		await playCheckpoints(rig, 120);
		rig.inside('true');
		expect(listed(rig)).toHaveLength(122);

		rig.inside('echo last > f');

		// of a minute each: one in five minutes of those over an hour old, the tip, and the newest, which the last run is of
		const left = listed(rig);
		expect(left.length).toBeLessThan(60);
		expect(left.map(({ id }) => id)).toEqual(expect.arrayContaining([1, 2, 122, 123]));
		for (const { parent } of left.slice(1)) expect(left.map(({ id }) => id)).toContain(parent);
		const log = rig.cli.json<{ snapshots: { id: number }[] }>(['log', 'project']).snapshots;
		expect(log.map(({ id }) => id).reverse()).toEqual(left.map(({ id }) => id));
		const old = left[10]?.id as number;
		rig.cli.json(['undo', 'project', `${left.length - 11}`, '--yes']);
		expect(rig.inside('cat f')).toBe(`checkpoint ${old - 2}\n`);
		rig.cli.json(['redo', 'project', '--yes']);
		expect(rig.inside('cat f')).toBe(`checkpoint ${(left[11]?.id as number) - 2}\n`);
		rig.cli.json(['restore', 'project', `${left[5]?.id}`, '--yes']);
		expect(rig.inside('cat f')).toBe(`checkpoint ${(left[5]?.id as number) - 2}\n`);
		expect(rig.cli.run(['doctor']).code).toBe(0);
	});

	test('gc thins out what a run left, and says what stays and why', async () => {
		using rig = sessionRig(account);
		rig.inside('echo first > f');
		await playCheckpoints(rig, 40);
		rig.cli.json(['snap', 'project', 'good']);
		const dry = rig.cli.json<{ dropped: number[]; kept: { id: number; why: string }[] }>([
			'gc',
			'project',
			'--dry-run',
		]);
		expect(dry.dropped.length).toBeGreaterThan(10);
		expect(listed(rig)).toHaveLength(43);
		expect(rig.cli.run(['gc', 'project']).stdout).toMatch(
			/^dropped \d+ snapshots of session project and .*\nkept \d+ snapshots: \d+ young enough, 1 position\n$/,
		);
		expect(listed(rig).map(({ id }) => id)).toEqual(dry.kept.map(({ id }) => id));
	});
});

/** Checkpoints as a long run would have left them, a minute apart, half a day ago. */
async function playCheckpoints({ cli, account }: SessionRig, count: number): Promise<void> {
	// only the user whose session it is may work on it
	presentAccount().own(cli.storePath);
	const session = await OwnedSession.open(placeInStore(cli.storePath, 'project'), () => {});
	const { store, project } = session;
	const end = Math.floor(Date.now() / 1000) - 43_200;
	for (let minute = 1; minute <= count; minute++) {
		const changes = [fileChange('f', `checkpoint ${minute}\n`)];
		const staged = store.tree.stage(changes);
		store.write(() => {
			store.tree.apply(project.ino, changes, staged);
			store.tree.snapshot({ trigger: 'quiet', created: { sec: end - (count - minute) * 60, nsec: 0 } });
			writeTruth(store.config, { side: 'store' });
		});
	}
	// the next owner makes the layer anew
	session.live = null;
	session.close();
	account.own(cli.storePath);
}

function listed({ cli }: SessionRig): { id: number; parent: number | null }[] {
	return cli.json<{ snapshots: { id: number; parent: number | null }[] }>(['list', 'project']).snapshots;
}
