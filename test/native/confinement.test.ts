import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { LaunchRig } from '../support/launch-rig.ts';
import { builtLauncher, testProgram } from '../support/native-programs.ts';

const REFUSED_WITH_EPERM = [
	'keyctl',
	'add_key',
	'request_key',
	'bpf',
	'perf_event_open',
	'userfaultfd',
	'open_by_handle_at',
	'kexec_load',
	'kexec_file_load',
	'init_module',
	'finit_module',
	'delete_module',
	'swapon',
	'swapoff',
	'quotactl',
	'acct',
	'reboot',
	'syslog',
	'vhangup',
	'TIOCSTI',
	'TIOCLINUX',
	'TCXONC',
];

describe.each(accounts())('confinement, as $name', (account) => {
	let rig: LaunchRig;
	beforeEach(() => {
		rig = new LaunchRig(account);
	});
	afterEach(() => rig[Symbol.dispose]());

	const shell = (script: string, confine = 'seccomp,landlock') =>
		rig.start(rig.plan(['sh', '-c', script], { confine }), { input: '' }).ended;

	test('identity, capabilities, signals and filters as /proc shows them', async () => {
		const { stdout } = await shell('cat /proc/self/status');
		const value = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(stdout)?.[1];
		const { uid, gid } = account;
		expect(value('Uid')).toBe([uid, uid, uid, uid].join('\t'));
		expect(value('Gid')).toBe([gid, gid, gid, gid].join('\t'));
		const kept = uid === 0 ? '00000000800004fb' : '0000000000000000';
		for (const set of ['CapPrm', 'CapEff', 'CapBnd']) expect([set, value(set)]).toEqual([set, kept]);
		for (const set of ['CapInh', 'CapAmb', 'SigBlk', 'SigIgn', 'SigPnd', 'ShdPnd'])
			expect([set, value(set)]).toEqual([set, '0000000000000000']);
		expect(value('NoNewPrivs')).toBe('1');
		expect(value('Seccomp')).toBe('2');
	});

	test('refused system calls say EPERM, io_uring and foreign tables ENOSYS, everything else goes on', async () => {
		const ended = await rig.start(rig.plan([testProgram('refused-calls')]), { input: '' }).ended;
		const errors = new Map(
			ended.stdout
				.trim()
				.split('\n')
				.map((line) => line.split(' ') as [string, string]),
		);
		for (const name of REFUSED_WITH_EPERM) expect([name, errors.get(name)]).toEqual([name, '1']);
		for (const name of ['io_uring_setup', 'io_uring_enter', 'io_uring_register'])
			expect([name, errors.get(name)]).toEqual([name, '38']);
		expect(errors.get('vsock')).toBe('97');
		expect(errors.get('unix')).toBe('0');
		expect(errors.get('TIOCGWINSZ')).toBe('25');
		if (process.arch === 'x64') {
			expect(errors.get('x32-getpid')).toBe('38');
			expect(errors.get('i386-getpid')).toBe('38');
		}
	});

	test('without confine only new privileges are refused', async () => {
		const { stdout } = await shell("awk '/^(NoNewPrivs|Seccomp):/ { print $2 }' /proc/self/status", '');
		expect(stdout).toBe('1\n0\n');
	});

	test('PID 1 keeps its secrets, and cannot be signalled or traced', async () => {
		const { stdout } = await shell(`
			for file in environ maps mem; do cat /proc/1/$file >/dev/null 2>&1 && echo "read $file"; done
			ls /proc/1/root/ /proc/1/cwd/ >/dev/null 2>&1 && echo listed
			kill -9 1; kill -STOP 1; kill -TERM 1
			echo done`);
		expect(stdout).toBe('done\n');
	});

	test('processes of the host are not there', async () => {
		const { stdout } = await shell(`kill -0 ${process.pid} 2>/dev/null && echo reached; ls /proc | grep -c '^[0-9]'`);
		expect(Number(stdout)).toBeLessThan(6);
	});

	test('no mount can be changed from inside', async () => {
		const { stdout } = await shell(`
			mount -o remount,rw / 2>/dev/null && echo remounted
			umount ${rig.project} 2>/dev/null && echo unmounted
			unshare -Urm sh -c 'mount -o remount,bind,rw / || umount ${rig.project} || umount /proc' 2>/dev/null && echo nested
			echo done`);
		expect(stdout).toBe('done\n');
	});

	/** The launcher in the middle of its caller's pipeline, all in one process group. */
	const inPipeline = (confine: string, script: string) => {
		const plan = rig.planFile(rig.plan(['sh', '-c', script], { confine }));
		const caller = `{ "$0" $$ 3<"$1" 4>"$2"; echo "caller goes on after $?"; } | { cat; echo sibling lives; }`;
		const command = ['bash', '-c', caller.replace('$$', '$BASHPID'), builtLauncher(), plan, rig.path('report')];
		return account.run(['setsid', '--wait', ...command], { cwd: '/' });
	};

	test.each(['seccomp,landlock', 'seccomp'])('kill 0 inside hits the command and not the caller: %s', (confine) => {
		const { stdout } = inPipeline(confine, 'trap "echo hit; exit 3" TERM; kill -TERM 0; exit 4');
		expect(stdout).toBe('hit\ncaller goes on after 3\nsibling lives\n');
	});

	test.each(['seccomp,landlock', 'seccomp'])('kill -9 0 inside ends the command alone: %s', (confine) => {
		const { stdout } = inPipeline(confine, 'kill -KILL 0');
		expect(stdout).toBe('caller goes on after 137\nsibling lives\n');
	});
});
