import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { placeInStore } from '../../src/session/session-place.ts';
import { presentAccount, type Ran } from '../support/accounts.ts';
import { snapshotsOf } from '../support/checkpoints.ts';
import { fileAt } from '../support/file-at.ts';
import { LiveShell } from '../support/live-shell.ts';
import { integrityOf, type SessionRig, sessionRig } from '../support/session-rig.ts';
import { until } from '../support/until.ts';

const why = userInfo().uid === 0 ? null : 'mounting a small disk needs root';

beforeEach((context) => {
	if (why !== null) context.skip(why);
});

/** A small disk of its own at a directory. */
class SmallDisk implements Disposable {
	readonly #path: string;

	constructor(path: string, sizeBytes: number) {
		const image = `${path}.disk`;
		writeFileSync(image, '');
		truncateSync(image, sizeBytes);
		// without blocks that are root's alone
		execFileSync('mkfs.ext4', ['-q', '-m', '0', '-O', '^has_journal', image]);
		mkdirSync(path, { recursive: true });
		execFileSync('mount', ['-o', 'loop', image, path]);
		this.#path = path;
	}

	/** Leaves so many bytes of it free. */
	leave(freeBytes: number): void {
		const { bavail, bsize } = statfsSync(this.#path);
		const fill = Math.max(0, Number(bavail) * Number(bsize) - freeBytes);
		execFileSync('sh', [
			'-c',
			'head -c "$1" /dev/zero >> "$2/filler" 2>/dev/null || true',
			'sh',
			String(fill),
			this.#path,
		]);
	}

	makeRoom(): void {
		execFileSync('rm', ['-f', join(this.#path, 'filler')]);
	}

	[Symbol.dispose](): void {
		spawnSync('umount', ['-l', this.#path]);
	}
}

const MIB = 1024 * 1024;

function expectFull(ran: Ran): void {
	expect(ran).toMatchObject({ code: 8, stdout: '' });
	expect(ran.stderr).toMatch(/^dropcloth: [^\n]*no space left[^\n]*\n$/);
}

function snapshots({ cli }: SessionRig): number {
	return cli.json<{ snapshots: unknown[] }>(['list', 'project']).snapshots.length;
}

function withStore(use: (rig: SessionRig, disk: SmallDisk) => void): void {
	using rig = sessionRig(presentAccount());
	using disk = new SmallDisk(rig.cli.storePath, 48 * MIB);
	use(rig, disk);
}

const quick = (rig: SessionRig, script: string) => rig.cli.run(['quick', rig.project, '--', 'sh', '-c', script]);

test.each([0, 100_000, 400_000])(
	'with %i bytes left no session is made, and one is made when there is room',
	(free) => {
		withStore((rig, disk) => {
			disk.leave(free);
			expectFull(quick(rig, 'echo 1 > one'));
			disk.makeRoom();
			rig.inside('[ ! -e one ] || [ "$(cat one)" = 1 ]; echo 2 > two');
			expect(rig.inside('cat two')).toBe('2\n');
		});
	},
);

test('what a run wrote until the disk was full is kept, and taken in once there is room', () => {
	withStore((rig, disk) => {
		rig.inside('echo 1 > one');
		disk.leave(12 * MIB);
		expectFull(quick(rig, 'echo 2 > two; seq 9999999 > big 2>/dev/null; wc -c < big > /dev/null'));
		expectFull(rig.cli.run(['snap', 'project']));
		disk.makeRoom();
		expect(rig.inside('cat one two')).toBe('1\n2\n');
		expect(Number(rig.inside('wc -c < big'))).toBeGreaterThan(4 * MIB);
		expect(rig.inside('seq 9999999 | cmp -n $(stat -c %s big) - big && echo same')).toBe('same\n');
		expect(snapshots(rig)).toBe(3);
	});
});

test('a snapshot that has no room is not taken, and what there was stays', () => {
	withStore((rig, disk) => {
		rig.inside('echo 1 > one');
		disk.leave(0);
		expectFull(rig.cli.run(['snap', 'project', 'tag']));
		disk.makeRoom();
		expect(snapshots(rig)).toBe(2);
		expect(rig.cli.run(['snap', 'project', 'tag']).code).toBe(0);
		expect(rig.inside('cat one')).toBe('1\n');
	});
});

test('a snapshot of a live session that has no room is told, the run goes on, and nothing is lost', async () => {
	using rig = sessionRig(presentAccount());
	using disk = new SmallDisk(rig.cli.storePath, 48 * MIB);
	rig.sh('mkfifo ../go');
	const script = `head -c 3000000 /dev/urandom > one; echo begun; read line < '${rig.place}/go'; echo 2 > two; cat two`;
	const run = rig.cli.start(['quick', rig.project, '--', 'sh', '-c', script]);
	await run.said(/begun/);
	disk.leave(0);
	expectFull(rig.cli.run(['snap', 'project', 'tag']));
	expect(rig.cli.json<{ state: string }>(['status', 'project']).state).toBe('live');
	disk.makeRoom();
	expect(rig.cli.run(['snap', 'project', 'tag']).code).toBe(0);
	disk.leave(0);
	writeFileSync(join(rig.place, 'go'), 'go\n');
	expect((await run.ended).stdout).toMatch(/^begun\n/);
	disk.makeRoom();
	expect(rig.inside('wc -c < one')).toBe('3000000\n');
	rig.cli.json(['restore', 'project', 'tag', '--yes']);
	expect(rig.inside('wc -c < one; ls')).toBe('3000000\none\n');
});

test('an automatic checkpoint that has no room is told once, the run goes on, and it is taken when there is room', async () => {
	using rig = sessionRig(presentAccount());
	using disk = new SmallDisk(rig.cli.storePath, 48 * MIB);
	rig.sh('mkfifo ../go');
	const wait = `read line < '${rig.place}/go'`;
	const script = `echo begun; ${wait}; head -c 3000000 /dev/urandom > one; echo written; ${wait}; echo 2 > two`;
	const run = rig.cli.start(['quick', rig.project, '--quiet', '100ms', '--', 'sh', '-c', script]);
	await run.said(/begun/);
	disk.leave(4 * MIB);
	writeFileSync(join(rig.place, 'go'), 'go\n');
	await run.said(/written/);
	await run.said(/no checkpoint could be taken.*no space left/);
	expect(snapshotsOf(rig, 'quiet')).toEqual([]);
	disk.makeRoom();
	const [taken] = await until('a checkpoint when there is room', () => {
		const found = snapshotsOf(rig, 'quiet');
		return found.length > 0 && found;
	});
	expect(fileAt(rig.cli, taken?.id ?? 0, 'one')?.length).toBe(3_000_000);
	writeFileSync(join(rig.place, 'go'), 'go\n');
	const ran = await run.ended;
	expect(ran.code).toBe(0);
	expect(ran.stderr.match(/no checkpoint could be taken/g)).toHaveLength(1);
	expect(rig.inside('cat two; wc -c < one')).toBe('2\n3000000\n');
});

test('a restore that has no room is done by the next command, or not at all', () => {
	withStore((rig, disk) => {
		rig.inside('echo 1 > one; head -c 6000000 /dev/urandom > big');
		rig.inside('rm big');
		disk.leave(2 * MIB);
		expectFull(rig.cli.run(['restore', 'project', '2', '--yes']));
		disk.makeRoom();
		expect(['1\n0\n', '1\n6000000\n']).toContain(rig.inside('cat one; cat big 2>/dev/null | wc -c'));
		rig.cli.json(['restore', 'project', '2', '--yes']);
		expect(rig.inside('cat big | wc -c')).toBe('6000000\n');
		expect(rig.cli.run(['doctor']).code).toBe(0);
	});
});

test('a live restore that has no room says so, loses neither state, and what runs inside goes on', async () => {
	using rig = sessionRig(presentAccount());
	using disk = new SmallDisk(rig.cli.storePath, 48 * MIB);
	rig.inside('head -c 12000000 /dev/urandom > big; echo 1 > one');
	const shell = await LiveShell.start(rig, ['--snapshots', 'none']);
	await shell.run('rm big; echo 2 > one; echo new > new');
	disk.leave(5 * MIB);
	expectFull(rig.cli.run(['restore', 'project', '2', '--yes']));
	expect(await shell.run('echo 3 > three && cat three')).toBe('3\n');
	disk.makeRoom();
	rig.cli.json(['restore', 'project', '3', '--yes']);
	expect(await shell.run('ls; cat one new')).toBe('new\none\n2\nnew\n');
	rig.cli.json(['restore', 'project', '2', '--yes']);
	expect(await shell.run('ls; cat one; wc -c < big')).toBe('big\none\n1\n12000000\n');
	await shell.end();
	expect(integrityOf(rig)).toEqual([]);
});

test('gc makes room on a disk that is nearly full', () => {
	withStore((rig, disk) => {
		for (const name of ['one', 'two', 'three']) rig.inside(`echo ${name} > name; head -c 5000000 /dev/urandom > big`);
		rig.inside('rm big');
		const size = () => statSync(placeInStore(rig.cli.storePath, 'project').dbPath).size;
		const before = size();
		disk.leave(4 * MIB);
		const ran = rig.cli.run(['gc', 'project', '--keep-last', '1']);
		expect(ran).toMatchObject({ code: 0, stderr: '' });
		expect(ran.stdout).toBe(
			'dropped 4 snapshots of session project and 14 MiB of content\nkept 1 snapshot: 1 position\n',
		);
		expect(before - size()).toBeGreaterThan(14_000_000);
		expect(rig.inside('cat name; ls')).toBe('three\nname\n');
	});
});

test('an apply that has no room on the host writes nothing there', () => {
	using rig = sessionRig(presentAccount());
	using disk = new SmallDisk(rig.project, 16 * MIB);
	rig.sh('echo host > kept; rmdir lost+found');
	rig.inside('echo 1 > one; echo more >> kept; head -c 6000000 /dev/zero | tr "\\0" x > big');
	disk.leave(3 * MIB);
	const before = rig.sh('ls -A; cat kept');
	const ran = rig.cli.run(['apply', 'project', '--yes']);
	expectFull(ran);
	expect(ran.stderr).toMatch(/nothing was written/);
	expect(rig.sh('ls -A; cat kept')).toBe(before);
	disk.makeRoom();
	expect(rig.cli.run(['apply', 'project', '--yes']).code).toBe(0);
	expect(rig.sh('cat one kept; wc -c < big')).toBe('1\nhost\nmore\n6000000\n');
});

test('an apply that has no room in the store writes nothing on the host', () => {
	withStore((rig, disk) => {
		rig.sh('head -c 3000000 /dev/urandom > big');
		rig.inside('echo 1 > one; echo 2 > big');
		disk.leave(MIB);
		const before = rig.sh('sha256sum *');
		expectFull(rig.cli.run(['apply', 'project', '--yes']));
		expect(rig.sh('sha256sum *')).toBe(before);
		disk.makeRoom();
		expect(rig.cli.run(['apply', 'project', '--yes']).code).toBe(0);
		expect(rig.sh('cat one big')).toBe('1\n2\n');
	});
});
