import { describe, expect, test } from 'vitest';
import { ROOT_USER, sampleRoot, sampleSpec } from '../../test/support/sample-spec.ts';
import { buildPlan } from './plan.ts';
import type { Bind, Mask, SandboxSpec } from './sandbox-spec.ts';

/** The operations of a plan as lines, for comparing. */
function lines(change: Partial<SandboxSpec> = {}): string[] {
	return buildPlan(sampleSpec(change)).operations.map((operation) => operation.join(' '));
}

/** Where things are attached, in order, with the kind. */
function attached(change: Partial<SandboxSpec> = {}): string[] {
	return buildPlan(sampleSpec(change)).mounts.map(({ kind, path }) => `${kind} ${path}`);
}

const OWN = [
	'fresh /dev',
	'bind /dev/null',
	'fresh /dev/pts',
	'fresh /dev/shm',
	'fresh /tmp',
	'fresh /var/tmp',
	'fresh /run',
];
const mask = (path: string, directory = true): Mask => ({ path, directory, reason: 'secret' });
const bind = (source: string, target = source, writable = false): Bind => ({
	source,
	target,
	directory: true,
	writable,
	reason: 'asked for',
});

test('the plan of an ordinary user, whole', () => {
	expect(lines({ masks: [mask('/home/me/.ssh'), mask('/home/me/.netrc', false)] })).toEqual([
		'unshare user,mount,pid,ipc,uts',
		'map 0 1000 1 0 1000 1',
		'init',
		'private',
		'overlay 0 userxattr /store/1/home/upper /store/1/home/work nosuid,nodev 1 /home/me',
		'overlay 1 userxattr /store/1/project/upper /store/1/project/work nosuid,nodev 1 /home/me/project',
		'tree 2 /dev/null one',
		'setattr / ro,nodev rec',
		'fs 3 tmpfs mode=0755,size=1m nosuid',
		'attach 3 /dev',
		'file /dev/null 292',
		'attach 2 /dev/null',
		'mkdir /dev/pts 493',
		'mkdir /dev/shm 493',
		'mkdir /dev/.empty 365',
		'file /dev/.none 292',
		'symlink pts/ptmx /dev/ptmx',
		'symlink /proc/self/fd /dev/fd',
		'symlink /proc/self/fd/0 /dev/stdin',
		'symlink /proc/self/fd/1 /dev/stdout',
		'symlink /proc/self/fd/2 /dev/stderr',
		'fs 4 devpts newinstance,ptmxmode=0666,mode=0620 nosuid,noexec',
		'attach 4 /dev/pts',
		'fs 5 tmpfs mode=1777 nosuid,nodev',
		'attach 5 /dev/shm',
		'fs 6 tmpfs mode=1777 nosuid,nodev',
		'attach 6 /tmp',
		'fs 7 tmpfs mode=1777 nosuid,nodev',
		'attach 7 /var/tmp',
		'fs 8 tmpfs mode=0755 nosuid,nodev',
		'attach 8 /run',
		'mkdir /run/lock 1023',
		'mkdir /run/user 493',
		'mkdir /run/user/1000 448',
		'fs 9 proc  nosuid,nodev,noexec',
		'attach 9 /proc',
		'attach 0 /home/me',
		'attach 1 /home/me/project',
		'mask /dev/.empty /dev/.none /home/me/.ssh',
		'mask /dev/.empty /dev/.none /home/me/.netrc',
		'setattr /dev ro one',
		'cmd-map 1000 0 1 1000 0 1',
		'caps 0',
		'confine seccomp,landlock',
		'chdir /home/me/project',
		'exec 1 true',
	]);
});

test('the same spec gives the same plan', () => {
	expect(buildPlan(sampleSpec())).toEqual(buildPlan(sampleSpec()));
});

test('root needs no user namespace, keeps few capabilities, and cannot change the machine through /proc', () => {
	const plan = lines({ user: ROOT_USER });
	expect(plan).toContain('unshare mount,pid,ipc,uts');
	expect(plan.filter((line) => line.startsWith('map '))).toEqual([]);
	expect(plan).toContain('bind-from /proc/sys /proc/sys ro,nosuid,nodev,noexec one');
	expect(plan).toContain('bind-from /dev/null /proc/kcore ro one');
	expect(plan).toContain('cmd-map 0 0 4294967295 0 0 4294967295');
	expect(plan).toContain(`caps ${0x800004fb}`);
});

test('lock and control are asked for only when wanted, the lock before anything else', () => {
	expect(lines({ lock: { start: 0, length: 1 }, control: true })[0]).toBe('lock 6 0 1');
	expect(lines({ control: true })).toContain('control 60000');
	expect(lines().filter((line) => /^(lock|control)/.test(line))).toEqual([]);
});

test('without network there is a namespace of its own, with the loopback up', () => {
	const plan = lines({ network: 'none' });
	expect(plan).toContain('unshare user,mount,pid,ipc,uts,net');
	expect(plan).toContain('lo');
	expect(plan.filter((line) => line.startsWith('listen'))).toEqual([]);
});

test('with some hosts there is the same, and a socket for the proxy, made when the loopback is up', () => {
	const plan = lines({ network: [{ kind: 'name', host: 'example.com', ports: null }] });
	expect(plan).toContain('unshare user,mount,pid,ipc,uts,net');
	expect(plan[plan.indexOf('lo') + 1]).toBe('listen 127.0.0.1 3128');
});

test('everything that stays writable is taken before all becomes read-only, and attached after', () => {
	const plan = lines({ binds: [bind('/data', '/data', true)], user: ROOT_USER });
	const readOnly = plan.indexOf('setattr / ro,nodev rec');
	plan.forEach((line, index) => {
		if (/^(overlay|tree) /.test(line)) expect(index).toBeLessThan(readOnly);
		if (/^(attach|bind-from|mkdir|file) /.test(line)) expect(index).toBeGreaterThan(readOnly);
	});
});

describe('where the trees are attached', () => {
	test('home before the project in it', () => {
		expect(attached().slice(-2)).toEqual(['overlay /home/me', 'overlay /home/me/project']);
	});

	test('a project below /tmp gets its directories in the private /tmp', () => {
		const plan = lines({ roots: [sampleRoot('project', '/tmp/a/b')], home: null, cwd: '/tmp/a/b' });
		const at = plan.indexOf('mkdir /tmp/a 493');
		expect(plan.slice(at, at + 3)).toEqual(['mkdir /tmp/a 493', 'mkdir /tmp/a/b 493', 'attach 0 /tmp/a/b']);
	});

	test('a project that is /tmp itself lies on the private one', () => {
		expect(lines({ roots: [sampleRoot('project', '/tmp')], home: null })).not.toContain('mkdir /tmp/ 493');
	});

	test('home below /tmp gets its directories there, a project in it does not', () => {
		const roots = [sampleRoot('project', '/tmp/me/p'), sampleRoot('home', '/tmp/me')];
		const plan = lines({ roots, home: '/tmp/me' });
		expect(plan.filter((line) => line.startsWith('mkdir /tmp'))).toEqual(['mkdir /tmp/me 493']);
	});

	test('a session without base is shown over nothing, below /run', () => {
		const plan = lines({ roots: [sampleRoot('project', '/run/dropcloth/s', [])], home: null });
		expect(plan).toContain(
			'overlay 0 userxattr /store/1/project/upper /store/1/project/work nosuid,nodev 1 /store/1/project/skeleton',
		);
		expect(plan).toContain('mkdir /run/dropcloth/s 493');
	});

	test('a branch has its frozen parent above the base', () => {
		const plan = lines({ roots: [sampleRoot('project', '/p', ['/store/artifact', '/p'])], home: null });
		expect(plan[4]).toBe(
			'overlay 0 userxattr /store/1/project/upper /store/1/project/work nosuid,nodev 2 /store/artifact /p',
		);
	});

	test('a git directory outside the project is a tree of its own', () => {
		const roots = [
			sampleRoot('project', '/home/me/wt'),
			sampleRoot('home', '/home/me'),
			sampleRoot('gitdir', '/home/me/main/.git'),
		];
		expect(attached({ roots }).slice(-3)).toEqual([
			'overlay /home/me',
			'overlay /home/me/wt',
			'overlay /home/me/main/.git',
		]);
	});

	test('a git directory that holds the project comes before it', () => {
		const roots = [sampleRoot('project', '/r.git/wt'), sampleRoot('gitdir', '/r.git')];
		expect(attached({ roots, home: null }).slice(-2)).toEqual(['overlay /r.git', 'overlay /r.git/wt']);
	});

	test('a project that is the home directory, or holds it, is the only tree of the two', () => {
		for (const path of ['/home/me', '/home']) {
			const roots = [sampleRoot('project', path), sampleRoot('home', '/home/me')];
			expect(attached({ roots }).filter((line) => line.startsWith('overlay'))).toEqual([`overlay ${path}`]);
		}
	});
});

describe('sockets of the host', () => {
	const silenced = (sockets: string[], change: Partial<SandboxSpec> = {}) =>
		attached({ sockets, ...change }).filter((line) => line.startsWith('mask') && !line.startsWith('mask /proc'));

	test('one that is seen read-only is hidden, one in a tree of the session or a private place cannot be reached', () => {
		expect(silenced(['/opt/db/sock', '/home/me/x', '/home/me/project/x', '/tmp/x'])).toEqual(['mask /opt/db/sock']);
	});

	test('one that was bound by request, or whose directory was, is left open', () => {
		expect(silenced(['/opt/sock', '/srv/sock', '/srv/x/sock'], { binds: [bind('/opt/sock'), bind('/srv/x')] })).toEqual(
			['mask /srv/sock'],
		);
	});

	test('one in a masked place is hidden with it', () => {
		expect(silenced(['/opt/db/sock'], { masks: [mask('/opt/db')] })).toEqual(['mask /opt/db']);
	});

	test('one in what is mounted below a tree, or in a home that is shown in pieces, is hidden', () => {
		const host = { ...sampleSpec().host, mountPoints: ['/', '/home/me/mnt'] };
		expect(silenced(['/home/me/mnt/sock'], { host, user: ROOT_USER })).toEqual(['mask /home/me/mnt/sock']);
		const homeEntries = [{ name: 'mnt', kind: 'directory', layer: 'untouched', target: null }] as const;
		expect(silenced(['/home/me/mnt/sock'], { host, homeEntries })).toEqual(['mask /home/me/mnt/sock']);
	});
});

describe('masks', () => {
	test('one in a place that is private anyway is left out', () => {
		expect(attached({ masks: [mask('/run/docker.sock', false), mask('/tmp/secret')] })).toEqual(attached());
	});

	test('one below another is left out', () => {
		const masks = [mask('/home/me/.config/gh'), mask('/home/me/.config')];
		expect(attached({ masks }).filter((line) => line.startsWith('mask'))).toEqual(['mask /home/me/.config']);
	});

	test('the store below the project is hidden in it', () => {
		const plan = attached({ masks: [mask('/home/me/project/.store')] });
		expect(plan.slice(-2)).toEqual(['overlay /home/me/project', 'mask /home/me/project/.store']);
	});

	test('a project that is a masked place is shown, one below it lies in an otherwise empty place', () => {
		const shown = attached({ masks: [mask('/home/me/project')] });
		expect(shown.slice(-1)).toEqual(['overlay /home/me/project']);
		const plan = lines({
			roots: [sampleRoot('project', '/home/me/.ssh/p'), sampleRoot('home', '/home/me')],
			masks: [mask('/home/me/.ssh')],
		});
		const at = plan.indexOf('fs 10 tmpfs mode=0755,size=1m nosuid,nodev');
		expect(plan.slice(at, at + 5)).toEqual([
			'fs 10 tmpfs mode=0755,size=1m nosuid,nodev',
			'attach 10 /home/me/.ssh',
			'mkdir /home/me/.ssh/p 493',
			'attach 1 /home/me/.ssh/p',
			'setattr /home/me/.ssh ro one',
		]);
	});

	test('one follows what it hides to where a bind shows it', () => {
		const masks = [mask('/home/me/.config/gh')];
		const plan = attached({ masks, binds: [bind('/home/me/.config', '/tmp/config')] });
		expect(plan).toContain('mask /tmp/config/gh');
		expect(plan).toContain('mask /home/me/.config/gh');
	});

	test('what is bound by name is shown, the rest of a masked place is not', () => {
		const masks = [mask('/home/me/.ssh')];
		expect(attached({ masks, binds: [bind('/home/me/.ssh')] }).slice(-1)).toEqual(['read-only bind /home/me/.ssh']);
		const inner = attached({ masks, binds: [bind('/home/me/.ssh/known_hosts')] });
		expect(inner.slice(-2)).toEqual(['fresh /home/me/.ssh', 'read-only bind /home/me/.ssh/known_hosts']);
	});

	test('what is mounted in a masked place stays hidden, also for root', () => {
		const host = { ...sampleSpec().host, mountPoints: ['/', '/home/me/.ssh', '/home/me/.aws/keys'] };
		const masks = [mask('/home/me/.ssh'), mask('/home/me/.aws')];
		const plan = attached({ masks, host, user: ROOT_USER });
		expect(plan.slice(-3)).toEqual(['overlay /home/me/project', 'mask /home/me/.ssh', 'mask /home/me/.aws']);
	});

	test('one that was asked for hides an agent’s directory too, and home itself but for the project', () => {
		const homeTools = [{ path: '.claude', directory: true, owner: 'agent', lowers: ['/home/me/.claude'] }] as const;
		const agent = attached({ reads: 'project', homeTools, masks: [mask('/home/me/.claude')] });
		expect(agent.slice(-2)).toEqual(['overlay /home/me', 'overlay /home/me/project']);
		expect(attached({ masks: [mask('/home/me')] }).slice(-2)).toEqual(['fresh /home/me', 'overlay /home/me/project']);
	});

	test('one in what is bound from a masked place is kept', () => {
		const masks = [mask('/home/me/.config'), mask('/home/me/.config/gh/token', false)];
		expect(attached({ masks, binds: [bind('/home/me/.config/gh')] }).slice(-4)).toEqual([
			'overlay /home/me/project',
			'fresh /home/me/.config',
			'read-only bind /home/me/.config/gh',
			'mask /home/me/.config/gh/token',
		]);
	});

	test('one below a place that another thing is bound over is left out', () => {
		const masks = [mask('/home/me/.config/gh')];
		const plan = attached({ masks, binds: [bind('/srv/config', '/home/me/.config')] });
		expect(plan.filter((line) => line.startsWith('mask'))).toEqual([]);
	});
});

describe('--reads project', () => {
	const homeTools = [
		{ path: '.claude', directory: true, owner: 'agent', lowers: ['/home/me/.claude'] },
		{ path: '.claude.json', directory: false, owner: 'agent', lowers: ['/home/me/.claude.json'] },
	] as const;

	test('home is an overlay over nothing, with the agents’ directories and the project in it', () => {
		const plan = lines({ reads: 'project', homeTools });
		expect(plan[4]).toBe(
			'overlay 0 userxattr /store/1/home/upper /store/1/home/work nosuid,nodev 1 /store/1/home/skeleton',
		);
		expect(plan[5]).toBe(
			'overlay 1 userxattr /store/1/home/upper/.claude /store/1/home/work-0 nosuid,nodev 1 /home/me/.claude',
		);
		expect(attached({ reads: 'project', homeTools }).slice(-3)).toEqual([
			'overlay /home/me',
			'overlay /home/me/.claude',
			'overlay /home/me/project',
		]);
	});

	test('nothing in an empty home needs a mask', () => {
		const plan = attached({
			reads: 'project',
			homeTools,
			masks: [mask('/home/me/.ssh'), mask('/home/me/.claude/secret')],
		});
		expect(plan.filter((line) => line.startsWith('mask'))).toEqual(['mask /home/me/.claude/secret']);
	});

	test('without a home layer it is a private empty directory', () => {
		const plan = attached({ reads: 'project', roots: [sampleRoot('project', '/home/me/project')] });
		expect(plan.slice(-2)).toEqual(['fresh /home/me', 'overlay /home/me/project']);
	});
});

describe('mounts below a tree', () => {
	const host = {
		...sampleSpec().host,
		mountPoints: ['/', '/proc', '/home/me/mnt', '/home/me/mnt/inner', '/home/me/project/vol'],
	};

	test('as root each outermost one is shown again, read-only', () => {
		const plan = lines({ user: ROOT_USER, host });
		for (const line of [
			'tree 1 /home/me/mnt rec',
			'attr 1 ro,nosuid,nodev rec',
			'tree 3 /home/me/project/vol rec',
			'attr 3 ro,nosuid,nodev rec',
		]) {
			expect(plan).toContain(line);
		}
		expect(attached({ user: ROOT_USER, host }).slice(-3)).toEqual([
			'read-only bind /home/me/mnt',
			'overlay /home/me/project',
			'read-only bind /home/me/project/vol',
		]);
	});

	test('rootless, home is put together: known directories writable, the rest read-only', () => {
		const entry = (
			name: string,
			kind: 'directory' | 'symlink' | 'other',
			layer: 'untouched' | 'present' | 'deleted' = 'untouched',
		) => ({ name, kind, layer, target: kind === 'symlink' ? 'x' : null }) as const;
		const plan = lines({
			host: { ...host, mountPoints: ['/', '/home/me/mnt'] },
			homeTools: [
				{ path: '.cache', directory: true, owner: 'tool', lowers: ['/home/me/.cache'] },
				{ path: '.claude.json', directory: false, owner: 'agent', lowers: ['/home/me/.claude.json'] },
			],
			homeEntries: [
				entry('mnt', 'directory'),
				entry('.cache', 'directory'),
				entry('.bashrc', 'other'),
				entry('link', 'symlink'),
				entry('gone', 'other', 'deleted'),
				entry('changed', 'other', 'present'),
				entry('project', 'directory'),
				entry('.ssh', 'directory'),
				entry('.claude.json', 'other'),
			],
			masks: [mask('/home/me/.ssh')],
		});
		expect(plan).toContain('tree 4 /home/me rec');
		const at = plan.indexOf('mkdir /dev/.home 448');
		expect(plan.slice(at, plan.indexOf('setattr /dev ro one'))).toEqual([
			'mkdir /dev/.home 448',
			'attach 4 /dev/.home',
			'attach 0 /home/me',
			'bind-from /dev/.home/mnt /home/me/mnt ro,nosuid,nodev rec',
			'bind-from /dev/.home/.bashrc /home/me/.bashrc ro,nosuid,nodev rec',
			'attach 1 /home/me/.cache',
			'attach 2 /home/me/project',
			'umount /dev/.home',
		]);
	});
});

describe('/proc', () => {
	const withProcMount = (point: string) => ({ ...sampleSpec().host, mountPoints: ['/', '/proc', point] });

	test('rootless below a sandbox that covers parts of it, the outer one is shown', () => {
		const plan = lines({ host: withProcMount('/proc/kcore') });
		expect(plan.indexOf('tree 3 /proc rec')).toBeGreaterThan(0);
		expect(plan.indexOf('tree 3 /proc rec')).toBeLessThan(plan.indexOf('setattr / ro,nodev rec'));
		expect(plan).toContain('attach 3 /proc');
	});

	test('a mount on a directory that was made for it covers nothing', () => {
		expect(lines({ host: withProcMount('/proc/sys/fs/binfmt_misc') })).toEqual(lines());
	});
});

test('every mount tells what it is for', () => {
	const { mounts } = buildPlan(sampleSpec({ user: ROOT_USER, masks: [mask('/home/me/.ssh')], binds: [bind('/data')] }));
	expect(mounts.filter(({ reason, source }) => reason === '' || source === '')).toEqual([]);
	expect(attached().slice(0, OWN.length + 1)).toEqual(['read-only bind /', ...OWN]);
});

test('a control group is entered after the lock is taken, limits of each process are set for the command alone', () => {
	const limits = { cgroup: '/sys/fs/cgroup/app/dropcloth-1-2', each: { data: 4096, nproc: 7 } };
	const all = lines({ lock: { start: 0, length: 1 }, limits });
	expect(all.slice(0, 2)).toEqual(['lock 6 0 1', 'cgroup /sys/fs/cgroup/app/dropcloth-1-2']);
	const confine = all.indexOf('confine seccomp,landlock');
	expect(all.slice(confine + 1, confine + 3)).toEqual(['rlimit data 4096 4096', 'rlimit nproc 7 7']);
	expect(lines().filter((line) => /^(cgroup|rlimit)/.test(line))).toEqual([]);
});
