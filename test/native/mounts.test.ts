import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { LaunchRig, type Operation } from '../support/launch-rig.ts';

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

describe.each(accounts())('mounts, as $name', (account) => {
	let rig: LaunchRig;
	beforeEach(() => {
		rig = new LaunchRig(account);
	});
	afterEach(() => rig[Symbol.dispose]());

	const shell = (script: string, outside: Operation[] = [], inside: Operation[] = []) =>
		rig.start(rig.plan(['sh', '-c', script], { outside, inside })).ended;

	test('the project is written in the upper layer, the lower one stays', async () => {
		rig.file('project/file', 'before\n');
		const ended = await shell('echo after >file; echo new >made; cat file');
		expect(ended).toMatchObject({ code: 0, stdout: 'after\n', stderr: '' });
		expect(readFileSync(`${rig.project}/file`, 'utf8')).toBe('before\n');
		expect(existsSync(`${rig.project}/made`)).toBe(false);
		expect(readFileSync(`${rig.upper}/made`, 'utf8')).toBe('new\n');
	});

	test('no mount of the host stays writable', async () => {
		const ended = await shell("awk '$6 !~ /(^|,)ro(,|$)/ { print $5 }' /proc/self/mountinfo");
		expect(ended.stdout.trim().split('\n').sort()).toEqual(['/proc', rig.project].sort());
	});

	test('nothing of it reaches the host: propagation is private', async () => {
		const before = readFileSync('/proc/self/mountinfo', 'latin1');
		const ended = await shell(
			"grep -c 'shared:\\|master:' /proc/self/mountinfo",
			[],
			[
				['fs', 2, 'tmpfs', 'size=64k', ''],
				['attach', 2, '/var/tmp'],
			],
		);
		expect(ended.stdout).toBe('0\n');
		expect(readFileSync('/proc/self/mountinfo', 'latin1')).toBe(before);
	});

	test('a clone taken before stays writable, one with ro does not, recursively', async () => {
		const writable = rig.directory('writable');
		const fixed = rig.directory('fixed');
		const outside: Operation[] = [
			['tree', 2, writable, 'one'],
			['tree', 3, fixed, 'rec'],
			['attr', 3, 'ro,nosuid', 'rec'],
		];
		const inside: Operation[] = [
			['attach', 2, writable],
			['attach', 3, fixed],
		];
		const ended = await shell(`echo 1 >${writable}/made; echo 2 >${fixed}/made`, outside, inside);
		expect(readFileSync(`${writable}/made`, 'utf8')).toBe('1\n');
		expect(existsSync(`${fixed}/made`)).toBe(false);
		expect(ended.stderr).toContain('Read-only file system');
	});

	test('devices, their links, pseudo terminals and shared memory of its own', async () => {
		const outside: Operation[] = DEVICES.map((name, i) => ['tree', 10 + i, `/dev/${name}`, 'one']);
		const inside: Operation[] = [
			['fs', 2, 'tmpfs', 'mode=0755,size=64k', 'nosuid'],
			['attach', 2, '/dev'],
			...DEVICES.flatMap((name, i): Operation[] => [
				['file', `/dev/${name}`, 0o444],
				['attach', 10 + i, `/dev/${name}`],
			]),
			['mkdir', '/dev/pts', 0o755],
			['mkdir', '/dev/shm', 0o755],
			['symlink', 'pts/ptmx', '/dev/ptmx'],
			['symlink', '/proc/self/fd', '/dev/fd'],
			['fs', 3, 'devpts', 'newinstance,ptmxmode=0666,mode=0620', 'nosuid,noexec'],
			['attach', 3, '/dev/pts'],
			['fs', 4, 'tmpfs', 'mode=1777,size=64k', 'nosuid,nodev'],
			['attach', 4, '/dev/shm'],
			['setattr', '/dev', 'ro', 'one'],
		];
		const script = `
			echo gone >/dev/null && head -c 4 /dev/zero | od -An -tx1 && head -c 8 /dev/urandom | wc -c
			: >/dev/full && echo x >/dev/full || echo full
			echo ok >/dev/shm/file && cat /dev/shm/file
			ls /dev; touch /dev/made
			script -qec 'tty' /dev/null | tr -d '\\r'`;
		const ended = await shell(script, outside, inside);
		expect(ended.stdout).toBe(
			` 00 00 00 00\n8\nfull\nok\nfd\nfull\nnull\nptmx\npts\nrandom\nshm\ntty\nurandom\nzero\n/dev/pts/0\n`,
		);
		expect(ended.stderr).toContain('Read-only file system');
	});

	test('masks: an empty file and an empty directory lie over what is to be hidden', async () => {
		rig.file('project/secret', 'key');
		rig.file('project/secrets/key', 'key');
		const inside: Operation[] = [
			['fs', 2, 'tmpfs', 'mode=0755,size=64k', 'nosuid,nodev'],
			['attach', 2, '/var/tmp'],
			['mkdir', '/var/tmp/empty', 0o755],
			['file', '/var/tmp/none', 0o444],
			['bind-from', '/var/tmp/none', `${rig.project}/secret`, 'ro,nosuid,nodev,noexec', 'one'],
			['bind-from', '/var/tmp/empty', `${rig.project}/secrets`, 'ro,nosuid,nodev,noexec', 'one'],
		];
		const script =
			'cat secret; ls -A secrets; echo x >secret; echo x >secrets/made; rm secret; mv secrets other; umount secret';
		const ended = await shell(script, [], inside);
		expect(ended.stdout).toBe('');
		expect(ended.stderr.match(/Read-only file system/g)).toHaveLength(2);
		expect(ended.stderr.match(/busy/g)).toHaveLength(2);
		expect(readFileSync(`${rig.project}/secret`, 'utf8')).toBe('key');
	});

	test('what is offered is attached where a place of its kind is, and left out elsewhere', async () => {
		const shown = rig.directory('shown');
		rig.file('shown/f', 'shown\n');
		const file = rig.file('one', 'one\n');
		for (const name of ['file', 'in/x']) rig.file(`project/${name}`, 'own\n');
		symlinkSync(rig.directory('project/directory'), `${rig.project}/link`);
		const places = ['directory', 'file', 'link', 'link/x', 'gone', 'gone/x', 'file/x'];
		const offers = (source: string, first: number) => ({
			outside: places.map((_, at): Operation => ['tree', first + at, source, 'one']),
			inside: places.map((name, at): Operation => ['offer', first + at, `${rig.project}/${name}`]),
		});
		const [directories, files] = [offers(shown, 2), offers(file, 2 + places.length)];
		const ended = await shell(
			'cat directory/f file; ls link/ in; ls',
			[...directories.outside, ...files.outside],
			[...directories.inside, ...files.inside],
		);
		expect(ended, ended.stderr).toMatchObject({
			code: 0,
			stdout: 'shown\none\nin:\nx\n\nlink/:\nf\ndirectory\nfile\nin\nlink\n',
		});
	});

	test('a mask takes the kind of what is there, and lets be what is gone, behind a link or out of reach', async () => {
		rig.file('project/directory/key', 'key');
		rig.file('project/file', 'key');
		rig.file('project/elsewhere/key', 'key');
		symlinkSync('elsewhere', `${rig.project}/link`);
		const names = ['directory', 'file', 'gone', 'gone/below', 'file/below', 'link', 'link/key'];
		const inside: Operation[] = [
			['fs', 2, 'tmpfs', 'mode=0755,size=64k', 'nosuid,nodev'],
			['attach', 2, '/var/tmp'],
			['mkdir', '/var/tmp/empty', 0o755],
			['file', '/var/tmp/none', 0o444],
			...names.map((name): Operation => ['mask', '/var/tmp/empty', '/var/tmp/none', `${rig.project}/${name}`]),
			// nobody but root looks in there
			['mask', '/var/tmp/empty', '/var/tmp/none', '/root/key'],
		];
		const script = 'ls -A directory; cat file; cat elsewhere/key; echo x >file; echo x >directory/made';
		const ended = await shell(script, [], inside);
		expect(ended).toMatchObject({ failure: '', stdout: 'key' });
		expect(ended.stderr.match(/Read-only file system/g)).toHaveLength(2);
	});

	test('a mask hides a file that is replaced meanwhile, again and again', async () => {
		const key = rig.file('outside/key', 'key');
		const replace = 'while :; do echo key >"$1.new"; mv "$1.new" "$1"; done';
		const replacing = spawn('sh', ['-c', replace, 'sh', key], { stdio: 'ignore' });
		const ended = once(replacing, 'close');
		try {
			for (let round = 0; round < 20; round++) {
				const inside: Operation[] = [
					['fs', 2, 'tmpfs', 'mode=0755,size=64k', 'nosuid,nodev'],
					['attach', 2, '/var/tmp'],
					['mkdir', '/var/tmp/empty', 0o755],
					['file', '/var/tmp/none', 0o444],
					['mask', '/var/tmp/empty', '/var/tmp/none', key],
				];
				expect(await shell('true', [], inside)).toMatchObject({ code: 0, failure: '' });
			}
		} finally {
			replacing.kill('SIGKILL');
			await ended;
		}
	});

	test('a place reached through a symbolic link is refused by every operation that names one', async () => {
		symlinkSync('/var/tmp', rig.path('link'));
		const link = rig.path('link');
		const tmpfs: Operation = ['fs', 2, 'tmpfs', 'size=64k', ''];
		const attempts: Operation[][] = [
			[tmpfs, ['attach', 2, link]],
			[['tree', 2, link, 'one']],
			[['setattr', link, 'nosuid', 'one']],
			[['bind-from', link, rig.work, '', 'one']],
			[['bind-from', rig.work, link, '', 'one']],
			[['mkdir', `${link}/made`, 0o755]],
			[['file', `${link}/made`, 0o644]],
			[['symlink', 'x', `${link}/made`]],
			[['umount', `${link}/made`]],
			[['pivot', link]],
		];
		for (const inside of attempts) {
			const ended = await shell(':', [], inside);
			expect(ended.failure).toMatch(new RegExp(`^fail \\d+ 40 ${inside.at(-1)?.[0]} .*/link`));
			expect(ended.code).toBe(125);
		}
		expect(existsSync('/var/tmp/made')).toBe(false);
	});

	test('what is there already is kept by mkdir and file', async () => {
		const inside: Operation[] = [
			['fs', 2, 'tmpfs', 'mode=0755,size=64k', ''],
			['attach', 2, '/var/tmp'],
			['mkdir', '/var/tmp/d', 0o700],
			['mkdir', '/var/tmp/d', 0o755],
			['file', '/var/tmp/f', 0o600],
			['file', '/var/tmp/f', 0o644],
		];
		expect((await shell('stat -c %a /var/tmp/d /var/tmp/f', [], inside)).stdout).toBe('700\n600\n');
	});

	test('umount takes a mount away again', async () => {
		const inside: Operation[] = [
			['fs', 2, 'tmpfs', 'mode=0755,size=64k', ''],
			['attach', 2, '/var/tmp'],
			['file', '/var/tmp/dropcloth-mark', 0o600],
			['umount', '/var/tmp'],
		];
		expect((await shell('ls -A /var/tmp', [], inside)).stdout).not.toContain('dropcloth-mark');
	});

	test('pivot makes a clone the root', async () => {
		const place = rig.directory('root');
		const inside: Operation[] = [
			['tree', 2, '/', 'rec'],
			['attach', 2, place],
			['pivot', place],
		];
		const ended = await shell(`cat /proc/self/comm; pwd; ls -A ${place} | wc -l`, [], inside);
		expect(ended).toMatchObject({ code: 0, failure: '', stdout: `cat\n${rig.project}\n0\n` });
	});

	test('an option that a file system does not know fails with its words', async () => {
		const ended = await shell(':', [], [['fs', 2, 'tmpfs', 'colour=red', '']]);
		expect(ended.failure).toMatch(/^fail \d+ 22 fs colour \| .*colour/);
	});

	test.each<[string, Operation[]]>([
		['a slot that is empty', [['attach', 77, '/mnt']]],
		[
			'a slot that is in use',
			[
				['fs', 2, 'tmpfs', '', ''],
				['fs', 2, 'tmpfs', '', ''],
			],
		],
		['a slot that is no number', [['tree', 'x', '/mnt', 'one']]],
		['a word that is neither one nor rec', [['tree', 2, '/mnt', 'all']]],
		['a relative path', [['mkdir', 'made', 0o755]]],
		['a mode that is no number', [['mkdir', '/tmp/made', 'rwx']]],
	])('%s is refused', async (_name, inside) => {
		const ended = await shell(':', [], inside);
		expect(ended.failure).toMatch(/^fail \d+ 22 /);
		expect(ended.code).toBe(125);
	});

	test('new host name, own ipc and uts, loopback up in a new network', async () => {
		const plan: Operation[] = [
			...rig.enter(',net'),
			['fs', 1, 'proc', '', ''],
			['attach', 1, '/proc'],
			['hostname', 'inside'],
			['lo'],
			...rig.identity(),
			[
				'exec',
				3,
				'sh',
				'-c',
				'hostname; cat /proc/net/if_inet6 /proc/net/dev | grep -c lo; ls /proc/sysvipc >/dev/null && wc -l </proc/sysvipc/shm',
			],
		];
		const ended = await rig.start(plan).ended;
		expect(ended.stdout).toMatch(/^inside\n2\n1\n$/);
	});

	test("the fallback proc: a clone of the host's, attached", async () => {
		const plan: Operation[] = [
			...rig.enter(),
			['tree', 1, '/proc', 'rec'],
			['setattr', '/', 'ro', 'rec'],
			['attach', 1, '/proc'],
			...rig.identity(),
			['confine', 'seccomp'],
			['exec', 3, 'sh', '-c', `test -e /proc/${process.pid} && id -u`],
		];
		expect((await rig.start(plan).ended).stdout).toBe(`${account.uid}\n`);
	});
});
