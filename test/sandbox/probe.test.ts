import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accounts, ordinaryAccount } from '../support/accounts.ts';
import { SandboxRig } from '../support/sandbox-rig.ts';

describe.each(accounts())('the probe of $name', (account) => {
	let rig: SandboxRig;
	beforeEach(async () => {
		rig = await SandboxRig.make(account);
		rig.write('home/project/file', 'base\n');
		rig.settle();
	});
	afterEach(() => rig[Symbol.dispose]());

	test('says that the kernel can, and leaves nothing in the store or the base', () => {
		expect(rig.probe()).toEqual({ possible: true, reasons: [], notes: [] });
		expect(rig.probe({ basePath: null })).toEqual({ possible: true, reasons: [], notes: [] });
		expect(readdirSync(rig.store).filter((name) => !name.startsWith('result-'))).toEqual([]);
		expect(readdirSync(rig.project)).toEqual(['file']);
	});

	test('a base that cannot be is told', () => {
		const [reason] = rig.probe({ basePath: '/proc' }).reasons;
		expect(reason?.why).toMatch('lies in /proc');
	});
});

describe('what the kernel lacks for an ordinary user', () => {
	let rig: SandboxRig;
	const account = ordinaryAccount();
	beforeEach(async () => {
		rig = await SandboxRig.make(account);
		rig.settle();
	});
	afterEach(() => rig[Symbol.dispose]());

	const own = (...commands: string[]) => {
		const back = `unshare --user --map-user=${account.uid} --map-group=${account.gid}`;
		return [
			'unshare',
			'--user',
			'--map-root-user',
			'--mount',
			'sh',
			'-c',
			`${commands.join(' && ')} && exec ${back} "$@"`,
			'sh',
		];
	};

	test('something mounted below the base', () => {
		const volume = join(rig.project, 'volume');
		mkdirSync(volume);
		rig.settle();
		expect(rig.probe({}, own(`mount -t tmpfs none ${volume}`))).toMatchObject({
			possible: false,
			reasons: [
				{ code: 'mount-below-base', why: expect.stringContaining(volume), remedy: expect.stringContaining('unmount') },
			],
		});
	});

	test('a store on an overlay, as in a container', () => {
		const dirs = ['lower', 'upper', 'work'].map((name) => join(rig.path, name));
		for (const path of dirs) mkdirSync(path);
		rig.settle();
		const [lower, upper, work] = dirs;
		const mount = `mount -t overlay none -o lowerdir=${lower},upperdir=${upper},workdir=${work},userxattr ${lower}`;
		expect(rig.probe({ storePath: lower ?? '' }, own(mount))).toMatchObject({
			possible: false,
			reasons: [{ code: 'store-unfit', why: expect.stringContaining('overlay') }],
		});
	});

	test('user namespaces that are switched off', () => {
		const off = 'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all "$@"';
		expect(rig.probe({}, ['unshare', '--user', '--map-root-user', 'sh', '-c', off, 'sh'])).toEqual({
			possible: false,
			reasons: [
				{
					code: 'no-user-namespaces',
					why: 'user namespaces are switched off (user.max_user_namespaces = 0)',
					remedy: 'as root: sysctl user.max_user_namespaces=15000',
				},
			],
			notes: [],
		});
	});

	test.runIf(process.getuid?.() === 0)('files of root in the base are a note (only root can make one)', () => {
		rig.write('home/project/of-root', '');
		expect(rig.probe()).toMatchObject({
			possible: true,
			notes: [{ code: 'foreign-owners', why: expect.stringContaining('of-root') }],
		});
	});
});
