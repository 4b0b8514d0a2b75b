import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { type SessionRig, sessionRig, TREE_SCRIPT } from '../support/session-rig.ts';
import { treeLines } from '../support/tree-hash.ts';

const GIT = 'git -c user.name=n -c user.email=e@localhost -c safe.directory=*';
const apply = ({ cli }: SessionRig, ...args: string[]) =>
	cli.run(['apply', 'project', '--yes', '--allow-exec', ...args]);
const diff = ({ cli }: SessionRig, ...args: string[]) =>
	cli.json<{ changes: { path: string; change: string }[] }>(['diff', 'project', ...args]).changes;
const ids = ({ cli }: SessionRig) =>
	cli.json<{ snapshots: { id: number }[] }>(['list', 'project']).snapshots.map(({ id }) => id);

/** Something that went wrong for users of other sandboxes: what the host holds, what is done inside, what is seen there. */
interface Report {
	readonly what: string;
	readonly host?: string;
	readonly inside: string;
	readonly sees: string;
	/** What the host shows after an apply, by this script. */
	readonly applied?: readonly [script: string, shows: string];
}

const REPORTS: readonly Report[] = [
	{
		what: 'a directory that is removed and made anew holds the new files alone',
		host: 'mkdir d; touch d/old',
		inside: 'rm -r d; mkdir d; touch d/new; ls d',
		sees: 'new\n',
		applied: ['ls d', 'new\n'],
	},
	{
		what: 'a directory of the host that is renamed keeps what it holds',
		host: 'mkdir -p d/deep; echo x > d/i; echo y > d/deep/j',
		inside: 'mv d e; cat e/i e/deep/j; ls',
		sees: 'x\ny\ne\n',
		applied: ['cat e/i e/deep/j; ls', 'x\ny\ne\n'],
	},
	{
		what: 'a FIFO of the host is changed without waiting for its other end',
		host: 'mkfifo p',
		inside: 'chmod 600 p; stat -c "%F %a" p',
		sees: 'fifo 600\n',
		applied: ['stat -c "%F %a" p', 'fifo 600\n'],
	},
	{
		what: 'a FIFO that is opened with a mask in place waits for its writer alone',
		inside: 'mkfifo f; (echo t > f) & cat f; wait',
		sees: 't\n',
	},
	{
		what: 'files without write permission are copied, replaced, edited and removed',
		host: 'echo a > ro; chmod 444 ro; echo b > ro2; chmod 444 ro2',
		inside: 'cp ro copy; rm -f ro2; sed -i s/a/z/ ro; mkdir -m 555 d; cat copy ro; stat -c %a ro copy d',
		sees: 'a\nz\n444\n444\n555\n',
		applied: ['cat copy ro; stat -c %a ro copy d; chmod 755 d; ls', 'a\nz\n444\n444\n555\ncopy\nd\nro\n'],
	},
	{
		what: 'a tree is removed after a part of it was removed and made anew',
		host: 'mkdir -p a/b/c; touch a/b/c/f',
		inside: 'rm -rf a/b; mkdir a/b; ls -A a/b; rm -rf a; ls -A',
		sees: '',
		applied: ['ls -A', ''],
	},
	{
		what: 'a directory is removed at once after its last file, an open one too',
		inside: 'mkdir w; touch w/f; rm w/f; rmdir w; mkdir w; exec 3> w/o; rm w/o; rmdir w; echo held >&3; ls -A',
		sees: '',
	},
	{
		what: 'a branch is switched in a plain repository',
		host: `${GIT} init -q .; mkdir -p s/t; echo 1 > s/t/f; ${GIT} add -A; ${GIT} commit -qm one`,
		inside: `${GIT} switch -qc x; ls -R s; printf 9 | dd of=s/t/f bs=1 seek=1 conv=notrunc status=none; od -c s/t/f; ${GIT} status --porcelain`,
		sees: 's:\nt\n\ns/t:\nf\n0000000   1   9\n0000002\n M s/t/f\n',
	},
	{ what: 'the file system has room', inside: '[ "$(stat -f -c %a .)" -gt 1000 ]; echo room', sees: 'room\n' },
	{
		what: 'locks are seen by other processes, and lock files are made by link',
		inside: `/usr/bin/python3 -c '
import fcntl, os, struct
f = open("l", "w"); fcntl.lockf(f, fcntl.LOCK_EX)
if os.fork() == 0:
    g = open("l", "r+")
    kind = struct.unpack("hhqqi", fcntl.fcntl(g, fcntl.F_GETLK, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0)))[0]
    print("held" if kind == fcntl.F_WRLCK else "free", flush=True); os._exit(0)
os.wait(); os.link("l", "l2"); print(os.stat("l").st_nlink)'`,
		sees: 'held\n2\n',
	},
	{
		what: 'Unix sockets are bound and connected to in the tree',
		inside: `/usr/bin/python3 -c '
import socket
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect("s"); c.send(b"hi"); print(s.accept()[0].recv(9).decode())'; rm s`,
		sees: 'hi\n',
	},
	{
		what: 'a database in the home directory is put in WAL mode',
		inside: `mkdir ~/.x; sqlite3 ~/.x/s.db 'pragma journal_mode=wal; create table t(a); insert into t values(1); select a from t'`,
		sees: 'wal\n1\n',
	},
	{
		what: 'a file whose time alone is set is a change, and is applied',
		host: 'echo 1 > f; echo 2 > g',
		inside: 'touch -d 2001-02-03T04:05:06 f; stat -c %y f | cut -c1-19',
		sees: '2001-02-03 04:05:06\n',
		applied: ['stat -c %y f | cut -c1-19; cat f', '2001-02-03 04:05:06\n1\n'],
	},
];

describe.each(accounts())('as $name', (account) => {
	test.each(REPORTS)('$what', ({ host = ':', inside, sees, applied }) => {
		using rig = sessionRig(account);
		rig.sh(host);
		const before = treeLines(rig.project);
		const masks = ['--mask', join(rig.place, 'nothing-there')];
		const ran = rig.cli.run(['quick', rig.project, ...masks, '--', 'sh', '-euc', inside], { cwd: rig.project });
		expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: sees });
		expect(treeLines(rig.project)).toEqual(before);
		if (applied === undefined) return;
		const done = apply(rig);
		expect(done, done.stderr).toMatchObject({ code: 0 });
		expect(rig.sh(applied[0])).toBe(applied[1]);
		expect(apply(rig)).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to apply') });
	});

	test('a file that is opened for writing and closed is no change', () => {
		using rig = sessionRig(account);
		rig.sh('echo 1 > f');
		rig.inside(`/usr/bin/python3 -c "open('f', 'r+').close()"`);
		expect(diff(rig)).toEqual([]);
		expect(apply(rig).stdout).toContain('nothing to apply');
	});

	test('--on-exit apply happens when the command has ended, and keeps its exit code', () => {
		using rig = sessionRig(account);
		for (const code of [0, 9]) {
			const ran = rig.cli.run([
				'quick',
				rig.project,
				'--on-exit',
				'apply',
				'--',
				'sh',
				'-c',
				`echo ${code} > f; exit ${code}`,
			]);
			expect(ran, ran.stderr).toMatchObject({ code, stdout: '' });
			expect(rig.sh('cat f')).toBe(`${code}\n`);
		}
	});

	test('--on-exit discard throws away what the command did, and with it only a session that the run made', () => {
		using rig = sessionRig(account);
		const discard = (script: string) =>
			rig.cli.run(['quick', rig.project, '--on-exit', 'discard', '--', 'sh', '-euc', script]);
		rig.sh('echo base > f');
		expect(discard('echo gone > f')).toMatchObject({ code: 0, stdout: '', stderr: '' });
		expect(rig.cli.run(['list', 'project']).code).toBe(5);
		const before = rig.inside(`echo one > f; echo set > ~/setting; ${TREE_SCRIPT}`);
		const ran = discard('echo two > f; rm ~/setting; mkdir d; exit 3');
		expect(ran).toMatchObject({ code: 3, stdout: '' });
		expect(ran.stderr).toBe('dropcloth: session project is back at snapshot 2; what the command did is snapshot 3\n');
		expect(rig.inside(TREE_SCRIPT)).toBe(before);
		expect(rig.inside('cat ~/setting')).toBe('set\n');
	});

	test('what a shell edited, deleted and made is undone to the byte and the mode', () => {
		using rig = sessionRig(account);
		rig.sh('echo a > f; echo g > g; echo k > k; chmod 644 k');
		const before = rig.inside(TREE_SCRIPT);
		rig.inside('sed -i s/a/b/ f; rm g; mkdir -p h/i; chmod 600 k');
		rig.cli.json(['undo', 'project', '--yes']);
		expect(rig.inside(TREE_SCRIPT)).toBe(before);
		expect(diff(rig)).toEqual([]);
	});

	test('rm -rf of everything, the home directory included, costs the host nothing and is undone', () => {
		using rig = sessionRig(account);
		rig.sh(
			`${GIT} init -q .; echo 1 > f; ${GIT} add -A; ${GIT} commit -qm one; echo dirty > f; echo rc > ../home/.rc; mkdir -p '${rig.cli.storePath}'`,
		);
		const host = () => treeLines(rig.place, { except: [rig.cli.storePath] });
		const before = host();
		const ran = rig.cli.run([
			'quick',
			rig.project,
			'--',
			'sh',
			'-c',
			`rm -rf ~/* ~/.[!.]* .git; ${GIT} checkout .; rm -rf ./*; ls -A . ~`,
		]);
		expect(ran.stdout, ran.stderr).not.toMatch(/f|\.rc/);
		expect(host()).toEqual(before);
		rig.cli.json(['undo', 'project', '--home', '--yes']);
		expect(rig.inside(`cat f ~/.rc; ${GIT} log --format=%s`)).toBe('dirty\nrc\none\n');
		expect(host()).toEqual(before);
	});

	test('an undo steps over states that are no different, and never further', () => {
		using rig = sessionRig(account);
		rig.inside('echo 1 > f');
		rig.inside('echo 2 > f');
		rig.cli.json(['snap', 'project', 'a']);
		rig.cli.json(['snap', 'project', 'b']);
		rig.cli.json(['undo', 'project', '--yes']);
		expect(rig.inside('cat f')).toBe('1\n');
	});

	test('sessions over one directory do not see each other', () => {
		using rig = sessionRig(account);
		for (const name of ['one', 'two']) {
			const ran = rig.cli.run(['run', '--session', name, '--', 'sh', '-c', `ls; echo ${name} > ${name}`], {
				cwd: rig.project,
			});
			expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: '' });
		}
		for (const name of ['one', 'two'])
			expect(rig.cli.run(['diff', name, '--name-status']).stdout).toMatch(new RegExp(`^A\t${name}\n`));
		for (const name of ['one', 'two']) expect(rig.cli.run(['apply', name, '--yes']).code).toBe(0);
		expect(rig.sh('cat one two')).toBe('one\ntwo\n');
	});

	test('every snapshot is restored whole, forwards and backwards, and a dry run says what happens', () => {
		using rig = sessionRig(account);
		rig.sh('echo base > kept');
		const steps = [
			'echo 1 > a; echo 1 > x',
			'echo 2 > b; rm x; mkdir d; echo 2 > d/e',
			'echo 3 > c; rm -r d; echo 3 > d; rm kept',
		];
		const trees = steps.map((step) => rig.inside(`${step}; ${TREE_SCRIPT}`));
		for (const target of [2, 4, 3, 2, 3, 4]) {
			const planned = rig.cli.json<{ paths: string[] }>(['restore', 'project', String(target), '--dry-run']);
			const done = rig.cli.json<{ paths: string[] }>(['restore', 'project', String(target), '--yes']);
			expect(done.paths).toEqual(planned.paths);
			expect(rig.inside(TREE_SCRIPT)).toBe(trees[target - 2]);
		}
		expect(ids(rig)).toEqual([1, 2, 3, 4]);
	});

	test('deletions are listed first and never cut', () => {
		using rig = sessionRig(account);
		rig.sh('touch z1 z2 z3 z4 z5');
		rig.inside('rm z*; for i in $(seq 200); do echo $i > a$i; done');
		const lines = rig.cli.run(['diff', 'project', '--name-status']).stdout.split('\n');
		expect(lines.slice(0, 5)).toEqual(['D\tz1', 'D\tz2', 'D\tz3', 'D\tz4', 'D\tz5']);
		expect(lines.filter((line) => line.startsWith('A\t'))).toHaveLength(200);
		const shown = rig.cli.run(['apply', 'project', '--dry-run']).stdout;
		for (const name of ['z1', 'z2', 'z3', 'z4', 'z5']) expect(shown).toContain(name);
	});

	test('one path is undone, and some paths are applied', () => {
		using rig = sessionRig(account);
		rig.sh('mkdir src; echo 1 > src/a; echo 1 > b');
		rig.inside('echo 2 > src/a; echo 2 > b; echo 2 > src/new');
		expect(apply(rig, '--only', 'src/**')).toMatchObject({ code: 0 });
		expect(rig.sh('cat src/a src/new b')).toBe('2\n2\n1\n');
		rig.cli.json(['undo', 'project', '--path', 'b', '--yes']);
		expect(rig.inside('cat src/a b')).toBe('2\n1\n');
	});

	test('a plain directory and a home without any settings have snapshots and undo', () => {
		using rig = sessionRig(account);
		const env = { HOME: join(rig.place, 'empty-home') };
		mkdirSync(env.HOME);
		account.own(env.HOME);
		for (const text of ['1', '2']) {
			expect(rig.cli.run(['quick', rig.project, '--', 'sh', '-c', `echo ${text} > f`], { env })).toMatchObject({
				code: 0,
				stderr: '',
			});
		}
		expect(rig.cli.run(['undo', 'project', '--yes'], { env }).code).toBe(0);
		expect(rig.cli.run(['quick', rig.project, '--', 'cat', 'f'], { env }).stdout).toBe('1\n');
	});

	test('the repository of the host is the same to the byte after runs, snapshots, undo and a kill', async () => {
		using rig = sessionRig(account);
		rig.sh(`${GIT} init -q .; echo 1 > f; ${GIT} add -A; ${GIT} commit -qm one; echo 2 > f; ${GIT} add f`);
		const before = treeLines(rig.project);
		rig.inside(`${GIT} commit -qam inside; ${GIT} gc -q; echo 3 > f`);
		rig.cli.json(['snap', 'project', 'tag']);
		const run = rig.cli.start([
			'quick',
			rig.project,
			'--',
			'sh',
			'-euc',
			`${GIT} reset -q --hard; echo begun; sleep 60`,
		]);
		await run.said(/begun/);
		run.kill('SIGKILL');
		await run.ended;
		rig.cli.json(['undo', 'project', '2', '--yes']);
		expect(treeLines(rig.project)).toEqual(before);
	});
});
