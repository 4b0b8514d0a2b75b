import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { SandboxRig } from '../support/sandbox-rig.ts';

describe.each(accounts())('what the agent of $name sees', (account) => {
	let rig: SandboxRig;
	beforeEach(async () => {
		rig = await SandboxRig.make(account);
		rig.write('home/project/file', 'base\n');
		rig.write('home/.bashrc', 'rc\n');
		rig.write('home/.ssh/id', 'secret\n');
		rig.write('home/.netrc', 'secret\n');
		rig.write('home/.claude/login', 'token\n');
		rig.write('home/.claude.json', '{}\n');
		rig.settle();
	});
	afterEach(() => rig[Symbol.dispose]());

	test('the project at its own path, writable, and nothing of it reaches the host', () => {
		const script = 'pwd; cat file; echo new >> file; rm -f nothing; mkdir made; mv file moved; ls';
		expect(rig.shell(script)).toBe(`${rig.project}\nbase\nmade\nmoved\n`);
		expect(readdirSync(rig.project)).toEqual(['file']);
		expect(readFileSync(join(rig.project, 'file'), 'utf8')).toBe('base\n');
		expect(rig.shell('ls; cat moved')).toBe('made\nmoved\nbase\nnew\n');
	});

	test('home with its dotfiles; what is written there stays in the session', () => {
		expect(rig.shell('cat ~/.bashrc ~/.claude/login; echo x >> ~/.bashrc; echo y > ~/.new; cat ~/.bashrc')).toBe(
			'rc\ntoken\nrc\nx\n',
		);
		expect(readFileSync(join(rig.home, '.bashrc'), 'utf8')).toBe('rc\n');
		expect(existsSync(join(rig.home, '.new'))).toBe(false);
		expect(rig.shell('cat ~/.new')).toBe('y\n');
	});

	test('credentials are empty and cannot be written', () => {
		expect(rig.shell('cat ~/.netrc; ls -A ~/.ssh; (echo x > ~/.ssh/new || echo no) 2>/dev/null')).toBe('no\n');
		expect(rig.shell('cat ~/.netrc', { unmask: [join(rig.home, '.netrc')] })).toBe('secret\n');
	});

	test('the store is empty, also when it lies in the project', () => {
		expect(rig.shell(`ls -A ${rig.store}; (touch ${rig.store}/x || echo no) 2>/dev/null`)).toBe('no\n');
		const store = join(rig.project, '.store');
		mkdirSync(store);
		rig.settle();
		const change = {
			storePath: store,
			roots: [{ ...rig.root('project', rig.project), upper: join(store, 'upper'), work: join(store, 'work') }],
		};
		expect(rig.shell('ls -RA', change)).toBe('.:\n.store\nfile\n\n./.store:\n');
		expect(rig.shell('touch x; ls -A', change)).toBe('.store\nfile\nx\n');
	});

	test('/tmp, /var/tmp, /run and /dev/shm are empty and private, with a place for the user’s own', () => {
		const name = `dropcloth-view-${process.pid}`;
		const script = `ls -A /tmp /var/tmp /dev/shm; for d in /tmp /var/tmp /run/lock /dev/shm /run/user/$(id -u); do touch $d/${name} || exit 1; done`;
		expect(rig.shell(script)).toBe('/dev/shm:\n\n/tmp:\n\n/var/tmp:\n');
		expect(existsSync(`/tmp/${name}`)).toBe(false);
		expect(rig.shell('stat -c %a /tmp /run/lock /run/user/$(id -u)')).toBe('1777\n1777\n700\n');
	});

	test('/dev has a few devices, which work', () => {
		expect(rig.shell('ls /dev | tr "\\n" " "')).toBe(
			'fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ',
		);
		expect(rig.shell('echo x > /dev/null; head -c 3 /dev/zero | wc -c; (echo ok > /dev/stdout) | cat')).toBe('3\nok\n');
	});

	test('only its own processes, as the same user, with no way to new rights', () => {
		expect(rig.shell('id -u; id -g; ls /proc | grep -c "^[0-9]"')).toMatch(
			new RegExp(`^${account.uid}\n${account.gid}\n[2-5]\n$`),
		);
		const status = rig.shell('grep -E "^(NoNewPrivs|Seccomp|CapEff|SigBlk|SigIgn):" /proc/self/status');
		expect(status.replace(/[\t ]+/g, ' ')).toBe(
			[
				'SigBlk: 0000000000000000',
				'SigIgn: 0000000000000000',
				`CapEff: ${account.uid === 0 ? '00000000800004fb' : '0000000000000000'}`,
				'NoNewPrivs: 1',
				'Seccomp: 2',
				'',
			].join('\n'),
		);
	});

	test('everything else read-only', () => {
		const script =
			'for p in / /etc /usr /var /opt /sys /proc/sys/kernel; do touch $p/x 2>/dev/null && echo $p; done; true';
		expect(rig.shell(script)).toBe('');
		expect(rig.shell('awk \'$5 == "/" { print substr($6, 1, 2) }\' /proc/self/mountinfo')).toBe('ro\n');
	});

	test('--reads project: of home nothing but the agents’ own, which are kept in the session', () => {
		const reads = { reads: 'project' } as const;
		expect(rig.shell('ls -A ~ | tr "\\n" " "; cat ~/.claude/login ~/.claude.json', reads)).toBe(
			'.claude .claude.json project token\n{}\n',
		);
		const write =
			'echo new > ~/.claude/login; echo "{1}" > ~/.json; mv ~/.json ~/.claude.json; touch ~/.own; ls ~/project';
		expect(rig.shell(write, reads)).toBe('file\n');
		expect(rig.shell('cat ~/.claude/login ~/.claude.json; ls ~/.own', reads)).toBe(`new\n{1}\n${rig.home}/.own\n`);
		expect(readFileSync(join(rig.home, '.claude.json'), 'utf8')).toBe('{}\n');
		expect(readFileSync(join(rig.home, '.claude/login'), 'utf8')).toBe('token\n');
	});

	test('binds: read-only as they are, writable ones reach the host, others at another place', () => {
		rig.write('data/file', 'data\n');
		rig.write('out/file', '');
		rig.settle();
		const [data, out] = [join(rig.path, 'data'), join(rig.path, 'out')];
		const script = `cat /tmp/in/here/file; echo x > ${out}/file; (echo x > /tmp/in/here/file || echo no) 2>/dev/null`;
		expect(rig.shell(script, { roBind: [`${data}:/tmp/in/here`], bind: [out] })).toBe('data\nno\n');
		expect(readFileSync(join(out, 'file'), 'utf8')).toBe('x\n');
		const credential = join(rig.home, '.ssh/id');
		expect(rig.shell('ls -A ~/.ssh; cat ~/.ssh/id', { roBind: [credential] })).toBe('id\nsecret\n');
	});

	test('the network is the host’s, or none but the loopback', () => {
		expect(rig.shell('cat /proc/net/dev | wc -l', { network: 'none' })).toBe('3\n');
		expect(rig.shell('readlink /proc/self/ns/net')).not.toBe(
			rig.shell('readlink /proc/self/ns/net', { network: 'none' }),
		);
	});

	test('a session without base is a directory of its own below /run', () => {
		const path = '/run/dropcloth/rig';
		const change = { roots: [rig.root('project', path, [])], cwd: path };
		expect(rig.shell('pwd; echo x > made; ls -A', change)).toBe(`${path}\nmade\n`);
		expect(rig.shell('ls -A', change)).toBe('made\n');
	});

	test('the working directory is kept when it is in the project and still there', () => {
		mkdirSync(join(rig.project, 'a/b'), { recursive: true });
		rig.settle();
		expect(rig.shell('pwd', { cwd: join(rig.project, 'a/b') })).toBe(`${join(rig.project, 'a/b')}\n`);
		expect(rig.shell('pwd', { cwd: '/etc' })).toBe(`${rig.project}\n`);
		rig.shell('rm -r a');
		expect(rig.shell('pwd', { cwd: join(rig.project, 'a/b') })).toBe(`${rig.project}\n`);
	});

	test('nothing is left on the host: no stub of what was hidden, no mount', () => {
		const before = account.run(['find', rig.home, '-printf', '%p %y %s %m %T@\\n']).stdout;
		rig.shell('touch a ~/b /tmp/c', { mask: [join(rig.home, '.bashrc')] });
		expect(account.run(['find', rig.home, '-printf', '%p %y %s %m %T@\\n']).stdout).toBe(before);
		expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(rig.path);
	});

	test('a new layer looks like what it lies over', () => {
		account.run(['chmod', '750', rig.project]);
		const host = lstatSync(rig.project);
		expect(rig.shell('stat -c "%a %u %g %Y" .')).toBe(
			`750 ${host.uid} ${host.gid} ${Math.floor(host.mtimeMs / 1000)}\n`,
		);
	});

	test('every mount is listed with its reason', () => {
		const { mounts = [] } = rig.run(['true']);
		expect(mounts.map(({ path }) => path)).toEqual(
			expect.arrayContaining(['/', '/dev', '/tmp', rig.home, rig.project, join(rig.home, '.ssh')]),
		);
	});

	test('a credential comes up in a place that the session has made anew: it is not seen, and nothing fails', () => {
		rig.write('home/.config/app', '');
		rig.settle();
		rig.shell('rm -rf ~/.config && mkdir ~/.config && touch ~/.config/own && rm -rf ~/.cache && ln -s /etc ~/.cache');
		rig.write('home/.config/gh/hosts.yml', 'secret\n');
		rig.write('home/.cache/huggingface/token', 'secret\n');
		rig.settle();
		expect(rig.shell('ls ~/.config; ls ~/.cache/hosts')).toBe(`own\n${rig.home}/.cache/hosts\n`);
	});

	test('what the session has put in place of a credential is hidden by its own kind', () => {
		const { netrc, unmask } = { netrc: join(rig.home, '.netrc'), unmask: [join(rig.home, '.netrc')] };
		rig.shell('rm ~/.netrc && mkdir ~/.netrc && touch ~/.netrc/x', { unmask });
		expect(rig.shell('ls -A ~/.netrc; stat -c %F ~/.netrc')).toBe('directory\n');
		expect(lstatSync(netrc).isFile()).toBe(true);
	});

	test('a host path below home that is a link keeps working', () => {
		symlinkSync('project/file', join(rig.home, 'link'));
		expect(rig.shell('cat ~/link')).toBe('base\n');
	});
});
