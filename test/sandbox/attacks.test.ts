import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { builtLauncher } from '../support/native-programs.ts';
import { SandboxRig } from '../support/sandbox-rig.ts';
import { treeLines } from '../support/tree-hash.ts';

/** One attempt: a shell script that runs in the sandbox, and what it must print. */
interface Attack {
	readonly name: string;
	readonly script: string;
	readonly seen: string | RegExp;
}

const CONNECT = (address: string) =>
	`node -e 'require("net").connect(${address}).on("connect",()=>{console.log("connected");process.exit()}).on("error",e=>console.log(e.code))'`;

/** $RIG is the host directory that holds home and project; $OUTSIDE a process of the host. */
const ATTACKS: readonly Attack[] = [
	// writing the host through another name of it
	{ name: 'the project through /proc/self/root', script: 'echo x > /proc/self/root$PWD/file; cat file', seen: 'x\n' },
	{ name: 'a file of the base through a hard link', script: 'ln linked two; echo x > two; cat two', seen: 'x\n' },
	{
		name: 'attributes of files of the base',
		script: 'chmod 4777 plain; touch -d 2001-01-01 plain; truncate -s 0 plain; echo done',
		seen: 'done\n',
	},
	{
		name: 'all of the project, .git too',
		script: 'mkdir -p sub; rm -rf sub .git; ls -A sub .git',
		seen: /cannot access.*\n.*cannot access/,
	},
	{
		name: 'a link of the project that leads out',
		script: 'echo x > leads-out',
		seen: /Read-only file system/,
	},
	{ name: 'a hard link to a file outside', script: 'ln /etc/passwd mine', seen: /cross-device/ },
	{
		name: 'system directories',
		script: 'for d in /etc /usr/bin /var/lib /opt $RIG; do touch $d/x && echo $d; done 2>/dev/null; echo none',
		seen: 'none\n',
	},
	{
		name: '/sys and control groups',
		script:
			'find /sys/fs/cgroup /sys/kernel -maxdepth 2 -type f -writable 2>/dev/null | head -3; touch /sys/fs/cgroup/x',
		seen: /Read-only|Permission|cannot touch/,
	},
	{
		name: '/proc/sys and the magic keys',
		script:
			'for f in /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches /proc/sysrq-trigger; do (echo 1 > $f) 2>/dev/null && echo $f; done; echo none',
		seen: 'none\n',
	},
	{ name: 'shell start-up files of the host', script: 'echo evil >> ~/.bashrc; tail -1 ~/.bashrc', seen: 'evil\n' },
	// the mounts
	{
		name: 'making everything writable again',
		script:
			'mount -o remount,rw / 2>/dev/null; mount -o remount,bind,rw / 2>/dev/null; touch /etc/x 2>/dev/null || echo no',
		seen: 'no\n',
	},
	{
		name: 'taking mounts away',
		script:
			'for m in "$PWD" ~ ~/.ssh /tmp /proc; do umount $m 2>/dev/null || umount -l $m 2>/dev/null || echo no; done',
		seen: 'no\nno\nno\nno\nno\n',
	},
	{
		name: 'the same with namespaces of its own',
		script:
			"unshare -Urm sh -c 'mount -o remount,bind,rw /; touch /etc/x; umount ~/.ssh; umount -l ~; cat ~/.ssh/id' 2>/dev/null; echo end",
		seen: 'end\n',
	},
	{
		name: 'home without what lies on it',
		script:
			"mkdir -p /tmp/m; unshare -Urm sh -c 'mount --bind ~ /tmp/m && cat /tmp/m/.ssh/id; mount --rbind ~ /tmp/m && umount /tmp/m/.ssh && cat /tmp/m/.ssh/id' 2>/dev/null; echo end",
		seen: 'end\n',
	},
	{
		name: 'an overlay of its own over home (CVE-2021-3732)',
		script:
			"mkdir -p /tmp/o/u /tmp/o/w /tmp/o/m; unshare -Urm sh -c 'mount -t overlay none -o lowerdir=$HOME,upperdir=/tmp/o/u,workdir=/tmp/o/w,userxattr /tmp/o/m && cat /tmp/o/m/.ssh/id; mount -t overlay none -o lowerdir=/,upperdir=/tmp/o/u,workdir=/tmp/o/w,userxattr /tmp/o/m && cat /tmp/o/m$HOME/.ssh/id' 2>/dev/null; echo end",
		seen: 'end\n',
	},
	{
		name: 'a /proc of its own with all of the machine',
		script:
			"unshare -Urmpf --mount-proc sh -c 'ls -d /proc/[0-9]* | wc -l; (echo 1 > /proc/sys/kernel/sysrq) 2>/dev/null && echo wrote' 2>/dev/null; echo end",
		seen: /^([1-4]\n)?end\n$/,
	},
	{
		name: 'devices',
		script:
			'ls /dev/vd* /dev/sd* /dev/mem /dev/kmsg /dev/fuse 2>/dev/null; mknod /tmp/d b 8 0; mknod d c 1 1; touch /dev/x; (echo x > /dev/.none) 2>&1',
		seen: /^mknod.*not permitted\nmknod.*not permitted\ntouch.*Read-only.*\n.*Read-only/,
	},
	// what is hidden
	{
		name: 'credentials',
		script:
			'cat ~/.ssh/id ~/.netrc ~/.config/gh/hosts.yml ~/.aws/credentials ~/.docker/config.json 2>/dev/null; ls -A ~/.ssh ~/.aws ~/.config/gh ~/.docker | grep -v :; true',
		seen: /^\n*$/,
	},
	{
		name: 'a masked place moved, removed or linked',
		script: 'mv ~/.ssh ~/x; rmdir ~/.ssh; ln ~/.netrc mine; mv ~/.config ~/y; cat ~/y/gh/hosts.yml',
		seen: /busy.*busy.*cross-device.*(No such file|cannot)/s,
	},
	{ name: 'a masked place written', script: 'echo x > ~/.netrc; touch ~/.ssh/x', seen: /Read-only.*Read-only/s },
	{ name: 'the store', script: 'ls -A $RIG/store; touch $RIG/store/x', seen: /^touch.*Read-only/ },
	{ name: 'files in the host’s /tmp', script: 'ls -A /tmp/dropcloth-attack-marker 2>&1', seen: /No such file/ },
	{
		name: 'the staging of the launcher',
		script: 'ls -A /dev/.empty; touch /dev/.empty/x; ls -A /dev | tr "\\n" " "',
		seen: /^touch.*Read-only.*\.empty \.none fd full null ptmx pts random shm stderr stdin stdout tty urandom zero $/s,
	},
	// other processes
	{
		name: 'a process of the host',
		script: 'kill -0 $OUTSIDE; ls -d /proc/$OUTSIDE; nsenter -t $OUTSIDE -m true',
		seen: /No such process.*No such file.*No such file/s,
	},
	{
		name: 'PID 1 killed or stopped',
		script: 'kill -9 1; kill -STOP 1; kill -TERM 1; sleep 0.1; echo alive',
		seen: /alive\n$/,
	},
	{
		name: 'PID 1 looked into',
		script:
			'for f in environ maps mem root/etc cwd/etc fd/0; do cat /proc/1/$f >/dev/null 2>&1 && echo $f; done; nsenter -t 1 -m true 2>/dev/null && echo in; nsenter -t 1 -U true 2>/dev/null && echo in; echo end',
		seen: 'end\n',
	},
	{ name: 'descriptors of the caller', script: 'ls -l /proc/self/fd | grep -c /etc/hostname', seen: '0\n' },
	{
		name: 'rights by a set-uid program',
		script:
			'cp /bin/id suid; chmod 4755 suid; ./suid -u; grep NoNewPrivs /proc/self/status; mount | grep -c "on $PWD .*nosuid"',
		seen: /^\d+\nNoNewPrivs:\t1\n1\n$/,
	},
	// sockets and what leads to them
	{
		name: 'variables that lead to agents and displays',
		script:
			'env | grep -E "^(SSH_AUTH_SOCK|SSH_AGENT_PID|DBUS_|DISPLAY|WAYLAND_|XAUTHORITY|GPG_|DROPCLOTH_KEY)"; echo end',
		seen: 'end\n',
	},
	{
		name: 'well-known sockets',
		script:
			'ls /run/docker.sock /var/run/docker.sock /run/dbus /run/user/*/bus /tmp/.X11-unix /run/systemd /run/containerd 2>/dev/null; echo end',
		seen: 'end\n',
	},
	{ name: 'a socket in home', script: CONNECT('process.env.HOME+"/home.sock"'), seen: 'ECONNREFUSED\n' },
	{ name: 'a socket in the project', script: CONNECT('"project.sock"'), seen: 'ECONNREFUSED\n' },
	{ name: 'a socket in /tmp', script: CONNECT('"/tmp/dropcloth-attack.sock"'), seen: 'ENOENT\n' },
	{
		name: 'a socket elsewhere on the host',
		script: CONNECT('process.env.RIG+"/elsewhere.sock"'),
		seen: /^(ECONNREFUSED|EACCES)\n$/,
	},
	{
		name: 'a socket elsewhere that is masked',
		script: CONNECT('process.env.RIG+"/masked.sock"'),
		seen: /^(ECONNREFUSED|ENOTSOCK|EACCES)\n$/,
	},
	{ name: 'an abstract socket', script: CONNECT('"\\0dropcloth-attack"'), seen: /^(EPERM|ECONNREFUSED)\n$/ },
];

const listeners: Server[] = [];
async function listen(path: string): Promise<void> {
	const server = createServer();
	listeners.push(server);
	await new Promise<void>((resolve) => server.listen(path, resolve));
}

describe.each(accounts())('an agent of $name cannot reach', (account) => {
	let rig: SandboxRig;
	let before: string[];
	let printed = new Map<string, string>();
	const host = () => treeLines(rig.path, { except: [rig.store, rig.tasks] });

	beforeAll(async () => {
		rig = await SandboxRig.make(account);
		for (const name of ['file', 'linked', 'plain', 'sub/inner', '.git/HEAD'])
			rig.write(`home/project/${name}`, 'base\n');
		for (const name of ['.ssh/id', '.netrc', '.config/gh/hosts.yml', '.aws/credentials', '.docker/config.json']) {
			rig.write(`home/${name}`, 'SECRET\n');
		}
		rig.write('home/.bashrc', 'rc\n');
		rig.write('outside', 'host\n');
		symlinkSync('../../outside', join(rig.project, 'leads-out'));
		for (const path of [
			join(rig.home, 'home.sock'),
			join(rig.project, 'project.sock'),
			join(rig.path, 'elsewhere.sock'),
			join(rig.path, 'masked.sock'),
		]) {
			await listen(path);
		}
		if (account === accounts()[0])
			for (const path of ['\0dropcloth-attack', '/tmp/dropcloth-attack.sock']) await listen(path);
		ATTACKS.forEach(({ script }, index) => {
			rig.write(`attacks/${index}`, script);
		});
		rig.settle();
		const agents = {
			SSH_AUTH_SOCK: '/run/x',
			DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/x',
			DISPLAY: ':0',
			GPG_TTY: '/dev/pts/0',
			DROPCLOTH_KEY: 'k',
		};
		const env = { RIG: rig.path, OUTSIDE: String(process.pid), ...agents };
		const all = 'for n in $(seq 0 $1); do printf "\\0%s\\0" $n; timeout 30 sh $RIG/attacks/$n 2>&1; done';
		before = host();
		const ran = rig.run(
			['sh', '-c', all, 'sh', String(ATTACKS.length - 1)],
			{ mask: [join(rig.path, 'masked.sock')] },
			{ env },
		);
		const parts = ran.stdout.split('\0');
		printed = new Map(ATTACKS.map(({ name }, index) => [name, parts[2 + 2 * index] ?? `nothing: ${ran.stderr}`]));
	});
	afterAll(() => {
		for (const server of listeners.splice(0)) server.close();
		rig[Symbol.dispose]();
	});

	test.each(ATTACKS)('$name', ({ name, seen }) => {
		const text = printed.get(name) ?? '';
		if (typeof seen === 'string') expect(text).toBe(seen);
		else expect(text).toMatch(seen);
		expect(text).not.toContain('SECRET');
	});

	test('the host, which is as it was after all of it', () => {
		expect(host()).toEqual(before);
	});

	test('the caller by a signal to its group', () => {
		expect(rig.run(['sh', '-c', 'kill -TERM 0; sleep 5']).outcome).toEqual({ kind: 'killed', signal: 15 });
	});

	test('the network, when it has none', () => {
		const script = `${CONNECT('22,"127.0.0.1"')}; ${CONNECT('"\\0dropcloth-attack"')}; ls /sys/class/net`;
		expect(rig.shell(script, { network: 'none' })).toMatch(/^ECONNREFUSED\n(EPERM|ECONNREFUSED)\n/);
	});

	test('a store behind a link', () => {
		symlinkSync('store', join(rig.path, 'store-link'));
		expect(
			rig.shell(`ls -A ${rig.path}/store ${rig.path}/store-link/`, { storePath: join(rig.path, 'store-link') }),
		).not.toMatch('layer');
	});

	test('another directory, when the base is replaced by a link while it is in use', async () => {
		rig.write('elsewhere/plain', 'elsewhere\n');
		rig.settle();
		const run = rig.request(['sh', '-c', 'echo up; read line; cat plain; echo x > plain; cat plain']);
		const { command } = rig.commandLine({ run, launcher: builtLauncher(), scratch: rig.store });
		const [program = '', ...args] = command;
		const child = spawn(program, args, { cwd: '/', env: account.environment(), uid: account.uid, gid: account.gid });
		await once(child.stdout, 'data');
		renameSync(rig.project, `${rig.project}.moved`);
		symlinkSync(join(rig.path, 'elsewhere'), rig.project);
		child.stdin.end('go\n');
		const [printedAfter] = await once(child.stdout, 'data');
		await once(child, 'close');
		rmSync(rig.project);
		renameSync(`${rig.project}.moved`, rig.project);
		expect(String(printedAfter)).not.toMatch('elsewhere');
		expect(readFileSync(join(rig.path, 'elsewhere/plain'), 'utf8')).toBe('elsewhere\n');
		expect(readFileSync(join(rig.project, 'plain'), 'utf8')).toBe('base\n');
	});
});
