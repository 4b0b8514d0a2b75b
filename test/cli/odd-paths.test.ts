import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { dropcloth } from '../support/built-program.ts';
import { type SessionRig, sessionRig } from '../support/session-rig.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { treeLines } from '../support/tree-hash.ts';

const GIT = 'git -c user.name=n -c user.email=e@localhost -c safe.directory=*';

/** Names as the shell's printf writes them: some are no UTF-8, which no JavaScript string of an argument can hold. */
const NAMES: readonly (readonly [what: string, printf: string])[] = [
	['spaces', 'a b  c '],
	['quotes', `it'"'"'s "q" \\\\\`x\\\\\``],
	['a newline', 'two\\nlines'],
	['a colon and a comma', 'a:b,c=d'],
	['a backslash', 'back\\\\slash\\\\040'],
	['a leading dash', '-rf'],
	['200 characters', 'x'.repeat(200)],
	['bytes that are no UTF-8', 'caf\\351\\377'],
	['shell syntax', '$(id);*?[a]#&'],
];

/** A script that does the whole main job over `$P`, the project, with the program `$D`; prints what it sees. */
const JOB = `
	D() { "$NODE" "$PROGRAM" "$@"; }
	cd -- "$P"; echo base > f; echo base > gone; mkdir d; echo inner > d/inner
	D quick "$P" -- sh -euc 'echo changed > f; rm gone; mv d e; echo new > "./$(printf -- "$1")"; pwd > pwd' sh "$N"
	[ "$(cat f gone d/inner)" = "$(printf 'base\\nbase\\ninner')" ]; ls -A
	D quick "$P" -- cat f e/inner
	D diff . --name-status
	D undo . --yes; D quick "$P" -- cat f gone d/inner
	D redo . --yes; D quick "$P" -- cat f
	D apply . --yes --allow-exec > /dev/null
	cat f e/inner; set -- *; echo $#; [ "$(cat pwd)" = "$(pwd -P)" ]
	D diff . --name-status; D status . > /dev/null; D ps > /dev/null; D show . 2 > /dev/null; D gc . > /dev/null
`;

function runJob(rig: SessionRig, setUp: string, env: Record<string, string> = {}) {
	const script = `${setUp}\n${JOB}`;
	return rig.account.run(['sh', '-euc', script], {
		cwd: rig.place,
		env: {
			HOME: rig.cli.account.home,
			NODE: process.execPath,
			PROGRAM: rig.cli.program,
			DROPCLOTH_HOME: rig.cli.storePath,
			...env,
		},
	});
}

describe.each(accounts())('as $name', (account) => {
	test.each(NAMES)('a project and a file whose name holds %s', (_, name) => {
		using rig = sessionRig(account);
		const ran = runJob(rig, `N='${name}'; P="$(pwd)/$(printf -- "$N"; echo .)"; P="\${P%.}"; mkdir -- "$P"`);
		expect(ran, `${ran.stdout}${ran.stderr}`).toMatchObject({ code: 0 });
		const lines = ran.stdout.split('\n');
		// the host before the apply, then inside, the diff, and the host after it
		expect(lines.slice(0, 5)).toEqual(['d', 'f', 'gone', 'changed', 'inner']);
		expect(ran.stdout).toContain('D\tgone\n');
		expect(ran.stdout.slice(ran.stdout.indexOf('redo'))).not.toContain('base');
		expect(lines.at(-2)).toBe('4');
	});

	test.each(NAMES)('a home and a store in it whose name holds %s', (_, name) => {
		using rig = sessionRig(account);
		const home = `HOME="$(pwd)/$(printf -- '${name}'; echo .)"; HOME="\${HOME%.}"; mkdir -- "$HOME"; unset DROPCLOTH_HOME XDG_DATA_HOME`;
		const ran = runJob(rig, `N=plain; P="$(pwd)/project"; ${home}; export HOME; echo host > "$HOME/.rc"`);
		expect(ran, `${ran.stdout}${ran.stderr}`).toMatchObject({ code: 0 });
		expect(ran.stdout.split('\n').at(-2)).toBe('4');
		const inHome = account.run(
			[
				'sh',
				'-euc',
				`${home.replace('mkdir', 'cd')}; "$0" "$1" quick ../project -- sh -c 'cat "$HOME/.rc"; echo in > "$HOME/.rc"'; cat "$HOME/.rc"; ls -A`,
				process.execPath,
				rig.cli.program,
			],
			{ cwd: rig.place },
		);
		expect(inHome, inHome.stderr).toMatchObject({ code: 0, stdout: 'host\nhost\n.local\n.rc\n' });
	});

	test.each([
		['on a tmpfs', '/dev/shm'],
		['below /tmp', '/tmp'],
	])('a project %s', (_, parent) => {
		using rig = sessionRig(account);
		using directory = temporaryDirectory(parent);
		account.own(directory.path);
		const ran = runJob(rig, `N=plain; P='${directory.path}'`);
		expect(ran, `${ran.stdout}${ran.stderr}`).toMatchObject({ code: 0 });
		expect(ran.stdout.split('\n').at(-2)).toBe('4');
	});

	test('a project that lies in the home directory, and one whose store lies in the project', () => {
		using rig = sessionRig(account);
		const inHome = runJob(rig, 'N=plain; P="$HOME/code"; mkdir "$P"');
		expect(inHome, `${inHome.stdout}${inHome.stderr}`).toMatchObject({ code: 0 });
		const cli = dropcloth({ ...account, home: rig.cli.account.home }, join(rig.project, '.p'));
		const ran = cli.run(['quick', rig.project, '--', 'sh', '-c', 'ls -R .; echo 1 > f; ls -A .p'], {
			cwd: rig.project,
		});
		expect(ran, ran.stderr).toMatchObject({ code: 0 });
		expect(ran.stdout).not.toContain('session');
		expect(cli.run(['diff', 'project']).stdout).toBe('A\tf\n1 added\n');
	});

	test('a project in a git worktree: commits work inside, reach nothing outside, and an apply brings both', () => {
		using rig = sessionRig(account);
		rig.sh(
			`${GIT} init -q ../main; cd ../main; echo 1 > f; ${GIT} add f; ${GIT} commit -qm one; ${GIT} worktree add -q ../project/wt`,
		);
		const worktree = join(rig.project, 'wt');
		const main = join(rig.place, 'main');
		const inside = (script: string) => {
			const ran = rig.cli.run(['quick', worktree, '--', 'sh', '-euc', script]);
			if (ran.code !== 0) throw new Error(`${ran.code}: ${ran.stderr}${ran.stdout}`);
			return ran.stdout;
		};
		rig.sh(`${GIT} -C wt status --porcelain; ${GIT} -C ../main status --porcelain`);
		const before = [...treeLines(main), ...treeLines(rig.project)];
		expect(inside(`${GIT} status --porcelain`)).toBe('');
		inside(`echo 2 > f; ${GIT} commit -qam two; ${GIT} fsck --strict --no-progress; ${GIT} log --oneline | wc -l`);
		expect([...treeLines(main), ...treeLines(rig.project)]).toEqual(before);
		const head = inside(`${GIT} rev-parse HEAD`);

		const applied = rig.cli.run(['apply', 'wt', '--yes', '--allow-exec']);
		expect(applied, applied.stderr).toMatchObject({ code: 0 });
		expect(
			rig.sh(
				`cat wt/f; ${GIT} -C wt rev-parse HEAD; ${GIT} -C wt status --porcelain; ${GIT} -C wt fsck --strict --no-progress`,
			),
		).toBe(`2\n${head}`);
		expect(inside(`cat f; ${GIT} rev-parse HEAD; ${GIT} status --porcelain`)).toBe(`2\n${head}`);
	});

	test('a submodule is a project like a worktree', () => {
		using rig = sessionRig(account);
		rig.sh(
			`${GIT} init -q ../sub; cd ../sub; echo 1 > f; ${GIT} add f; ${GIT} commit -qm one; cd ../project; ${GIT} init -q .; ${GIT} -c protocol.file.allow=always submodule --quiet add ../sub mod; ${GIT} commit -qm sub`,
		);
		const host = () => treeLines(rig.project);
		rig.sh(`${GIT} -C mod status --porcelain`);
		const before = host();
		const ran = rig.cli.run([
			'quick',
			join(rig.project, 'mod'),
			'--',
			'sh',
			'-euc',
			`echo 2 > f; ${GIT} commit -qam two; ${GIT} log --format=%s`,
		]);
		expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: 'two\none\n' });
		expect(host()).toEqual(before);
	});

	test('a home that is the project, or lies in it, is refused', () => {
		using rig = sessionRig(account);
		for (const home of [rig.project, join(rig.project, 'in/it')]) {
			mkdirSync(home, { recursive: true });
			account.own(rig.project);
			const ran = rig.cli.run(['quick', rig.project, '--', 'true'], { env: { HOME: home } });
			expect(ran).toMatchObject({ code: 1, stdout: '' });
			expect(ran.stderr).toMatch(/^dropcloth: .*home directory.*\n$/);
		}
		symlinkSync(rig.project, join(rig.place, 'link'));
		expect(rig.cli.run(['quick', rig.project, '--', 'true'], { env: { HOME: join(rig.place, 'link') } }).code).toBe(1);
	});

	test.each([
		['renamed', (rig: SessionRig) => renameSync(rig.project, join(rig.place, 'other')), 1, /no directory/],
		['deleted', (rig: SessionRig) => rmSync(rig.project, { recursive: true }), 1, /no directory/],
		[
			'replaced by a symlink',
			(rig: SessionRig) => {
				renameSync(rig.project, join(rig.place, 'other'));
				symlinkSync('other', rig.project);
			},
			7,
			/leads to .*other now/,
		],
	])(
		'a base that is %s while a run goes on: what the run wrote is kept, and nothing is written elsewhere',
		async (_, move, code, says) => {
			using rig = sessionRig(account);
			rig.sh('echo base > f');
			const script =
				'trap "echo late > late; exit 0" TERM; echo early > early; echo begun; while :; do sleep 0.01; done';
			const run = rig.cli.start(['quick', rig.project, '--', 'sh', '-euc', script]);
			await run.said(/begun/);
			move(rig);
			run.kill('SIGTERM');
			const ran = await run.ended;
			expect(ran, ran.stderr).toMatchObject({ code: 0 });
			expect(
				rig.cli.json<{ changes: { path: string }[] }>(['diff', 'project', '1', '2']).changes.map(({ path }) => path),
			).toEqual(expect.arrayContaining(['early', 'late']));
			const again = rig.cli.run(['run', 'project', '--', 'true'], { cwd: rig.place });
			expect(again, again.stderr).toMatchObject({ code, stdout: '' });
			expect(again.stderr).toMatch(says);
			const applied = rig.cli.run(['apply', 'project', '--yes'], { cwd: rig.place });
			expect(applied, applied.stderr).toMatchObject({ code: 7 });
			if (code === 7) expect(readdirSync(join(rig.place, 'other'))).toEqual(['f']);
		},
	);

	test('kill 0 inside ends the command and nobody outside', () => {
		using rig = sessionRig(account);
		const script = `"$0" "$1" quick . -- sh -c 'echo 1 > f; kill 0'; echo "code $?"; "$0" "$1" quick . -- cat f`;
		const ran = account.run(['sh', '-c', script, process.execPath, rig.cli.program], {
			cwd: rig.project,
			env: { HOME: rig.cli.account.home, DROPCLOTH_HOME: rig.cli.storePath },
		});
		expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: 'code 143\n1\n' });
	});

	test('nothing is left in the home directory or among temporary files, not even by a run that was killed', async () => {
		using rig = sessionRig(account);
		const home = rig.cli.account.home;
		rig.sh(`mkdir -p '${rig.cli.storePath}' ../tmp; echo rc > ../home/.bashrc`);
		const env = { TMPDIR: join(rig.place, 'tmp') };
		const seen = () => [
			readdirSync('/tmp').filter((name) => /dropcloth(?!-)|launch-/.test(name)),
			readdirSync(env.TMPDIR),
			treeLines(home, { except: [rig.cli.storePath] }),
		];
		const before = seen();
		for (let round = 0; round < 10; round++) {
			expect(rig.cli.run(['quick', rig.project, '--', 'true'], { env }).code).toBe(0);
		}
		const run = rig.cli.start(['quick', rig.project, '--', 'sh', '-c', 'echo begun; sleep 60'], { env });
		await run.said(/begun/);
		run.kill('SIGKILL');
		await run.ended;
		expect(seen()).toEqual(before);
		expect(rig.cli.run(['quick', rig.project, '--', 'cat', join(home, '.bashrc')]).stdout).toBe('rc\n');
	});

	test('the program is seen inside when it is installed below the home directory, as nvm does', () => {
		using rig = sessionRig(account);
		const bin = join(rig.cli.account.home, '.nvm/versions/node/v1/bin');
		rig.sh(
			`mkdir -p '${bin}'; ln -s '${process.execPath}' '${bin}/node'; printf '#!/bin/sh\\nexec node "%s" "$@"\\n' '${rig.cli.program}' > '${bin}/dropcloth'; chmod 755 '${bin}/dropcloth'`,
		);
		const ran = rig.cli.run(['quick', rig.project, '--', 'dropcloth', 'version'], {
			env: { PATH: `${bin}:/usr/bin:/bin` },
		});
		expect(ran, ran.stderr).toMatchObject({ code: 0 });
		expect(ran.stdout).toMatch(/\d+\.\d+/);
	});
});

test.runIf(process.getuid?.() === 0)('a home with a mount below it', () => {
	const account = accounts()[0];
	if (account === undefined) throw new Error('nobody runs this');
	using rig = sessionRig(account);
	const home = rig.cli.account.home;
	const script = `mkdir "$HOME/m"; mount -t tmpfs t "$HOME/m"; echo host > "$HOME/m/f"; echo rc > "$HOME/rc"
		"$0" "$1" quick . -- sh -c 'cat "$HOME/m/f" "$HOME/rc"; echo in > "$HOME/rc"; cat "$HOME/rc"; echo in > "$HOME/m/f" || echo refused'
		cat "$HOME/m/f" "$HOME/rc"`;
	const ran = account.run(['unshare', '-m', 'sh', '-euc', script, process.execPath, rig.cli.program], {
		cwd: rig.project,
		env: { HOME: home, DROPCLOTH_HOME: rig.cli.storePath },
	});
	expect(ran.stdout, ran.stderr).toMatch(/^host\nrc\nin\nrefused\nhost\nrc\n$/);
});
