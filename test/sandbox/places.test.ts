import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decodeName, fsPath } from '../../src/base/bytes.ts';
import { findGitDirectory } from '../../src/sandbox/git-directory.ts';
import { type Account, accounts } from '../support/accounts.ts';
import { builtLauncher } from '../support/native-programs.ts';
import { SandboxRig } from '../support/sandbox-rig.ts';

const ODD_NAMES = [
	'with space',
	`quotes " and '`,
	'new\nline',
	'tab\there',
	'colon:slash',
	'comma,equals=c',
	'back\\slash',
	'a\\:b\\,c',
	'$HOME `id` #%;&|<>*?[]{}()!~',
	'-dash',
	'ünïcödé 目录',
	decodeName(Buffer.from([0x66, 0xff, 0xfe, 0x80])),
	'x'.repeat(200),
];

/** Puts mounts in place, in a namespace of their own, before the program runs without any capability over them. */
function mounting(account: Account, ...commands: string[]): string[] {
	const script = `${commands.join(' && ')} && exec "$@"`;
	if (account.uid === 0) return ['unshare', '--mount', 'sh', '-c', script, 'sh'];
	const back = `exec unshare --user --map-user=${account.uid} --map-group=${account.gid} --`;
	return ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', script.replace('exec', back), 'sh'];
}

describe.each(accounts())('places of $name', (account) => {
	let rig: SandboxRig;
	beforeEach(async () => {
		rig = await SandboxRig.make(account);
	});
	afterEach(() => rig[Symbol.dispose]());

	test.each(ODD_NAMES)('a project called %j', (name) => {
		const project = `${rig.home}/${name}`;
		rig.write(`${project}/file`, 'base\n');
		rig.settle();
		const change = { roots: [rig.root('project', project), rig.root('home', rig.home)], cwd: project };
		expect(rig.shell('cat file; echo new > file; cat ../"$(basename "$PWD")"/file', change)).toBe('base\nnew\n');
		expect(readFileSync(fsPath(`${project}/file`), 'utf8')).toBe('base\n');
		expect(readFileSync(join(rig.store, 'layer/project/upper/file'), 'utf8')).toBe('new\n');
	});

	test('a project whose name differs from its neighbour’s by an escape gets its own layer', () => {
		for (const name of ['a:b', 'a\\:b']) {
			const project = join(rig.path, name);
			rig.write(join(project, 'file'), `${name}\n`);
			rig.settle();
			const root = {
				...rig.root('project', project),
				upper: join(rig.store, name, 'upper'),
				work: join(rig.store, name, 'work'),
			};
			expect(rig.shell('cat file; touch mine', { roots: [root], cwd: project })).toBe(`${name}\n`);
			expect(readdirSync(join(rig.store, name, 'upper'))).toEqual(['mine']);
		}
	});

	test('a project, a home and a store below /tmp', async () => {
		using inTmp = await SandboxRig.make(account, '/tmp');
		inTmp.write('home/project/file', 'base\n');
		inTmp.write('home/.netrc', 'secret\n');
		inTmp.settle();
		const script = 'cat file; cat ~/.netrc; touch ~/new made; ls /tmp | wc -l; cd /tmp; ls -d */; ls';
		expect(inTmp.shell(script)).toMatch(/^base\n1\ndropcloth-sandbox-\w+\/\ndropcloth-sandbox-\w+\n$/);
		expect(existsSync(join(inTmp.home, 'new'))).toBe(false);
	});

	test('a project on a tmpfs, in /dev/shm', async () => {
		using inMemory = await SandboxRig.make(account, '/dev/shm');
		inMemory.write('home/project/file', 'base\n');
		inMemory.settle();
		expect(inMemory.shell('cat file; echo x > file; cat file; rm file; ls')).toBe('base\nx\n');
		expect(inMemory.shell('ls -A', { reads: 'project' })).toBe('');
	});

	test('a project given through a link is the directory behind it', () => {
		symlinkSync('home/project', join(rig.path, 'link'));
		const project = realpathSync(join(rig.path, 'link'));
		expect(rig.shell('pwd', { roots: [rig.root('project', project)] })).toBe(`${rig.project}\n`);
	});

	test('a base that became a link, or is gone, is told by name', () => {
		const { path } = rig;
		mkdirSync(join(path, 'real'));
		symlinkSync('real', join(path, 'link'));
		rig.settle();
		const run = (project: string) => rig.run(['true'], { roots: [rig.root('project', project)], cwd: project }).refusal;
		expect(run(join(path, 'link'))).toMatchObject({
			kind: 'sandbox',
			message: `${path}/link was replaced by a symlink`,
		});
		expect(run(join(path, 'gone'))).toMatchObject({ message: `${path}/gone is not there any more` });
	});

	test('a worktree whose git directory is elsewhere: commits work, the host’s refs stay', () => {
		const main = join(rig.path, 'main');
		const tree = join(rig.home, 'tree');
		mkdirSync(main);
		rig.settle();
		const git = (...args: string[]) =>
			account.run(['git', '-c', 'user.name=t', '-c', 'user.email=t@t', '-C', main, ...args], { cwd: '/' }).stdout;
		git('init', '-q');
		git('commit', '-q', '--allow-empty', '-m', 'first');
		git('worktree', 'add', '-q', tree);
		const before = git('log', '--all', '--oneline');
		const gitDirectory = findGitDirectory(tree, []);
		expect(gitDirectory).toBe(join(main, '.git'));
		const change = { roots: [rig.root('project', tree), rig.root('gitdir', gitDirectory ?? '')], cwd: tree };
		const commit =
			'echo x > f; git add f; git -c user.name=t -c user.email=t@t commit -q -m second; git log --oneline | wc -l; git status --short';
		expect(rig.shell(commit, change)).toBe('2\n');
		expect(git('log', '--all', '--oneline')).toBe(before);
		expect(rig.shell('git log --oneline | wc -l', change)).toBe('2\n');
	});

	test('dropcloth itself is found inside, wherever it is installed', () => {
		const installed = rig.write('home/.nvm/bin/tool', '#!/bin/sh\necho here\n');
		execFileSync('chmod', ['755', installed]);
		rig.settle();
		for (const reads of ['home', 'project'] as const)
			expect(rig.shell('~/.nvm/bin/tool', { reads, installed: [installed] })).toBe('here\n');
		expect(rig.run(['ls', join(rig.home, '.nvm')], { reads: 'project' }).code).toBe(2);
	});

	test('dropcloth below /tmp is found inside', async () => {
		using inTmp = await SandboxRig.make(account, '/tmp');
		const installed = inTmp.write('opt/tool', 'here\n');
		inTmp.settle();
		expect(
			inTmp.shell(`cat ${installed}; (echo x > ${installed} || echo no) 2>/dev/null`, {
				installed: [join(inTmp.path, 'opt')],
			}),
		).toBe('here\nno\n');
	});

	describe('with something mounted below home', () => {
		const mount = (...places: string[]) =>
			mounting(account, ...places.map((place) => `mount -t tmpfs none ${place} && echo mounted > ${place}/file`));
		const task = (script: string, change = {}) => ({
			run: rig.request(['/bin/sh', '-c', script], change),
			launcher: builtLauncher(),
			scratch: rig.store,
		});

		beforeEach(() => {
			rig.write('home/mnt/covered', 'secret\n');
			rig.write('home/.bashrc', 'rc\n');
			rig.write('home/.ssh/id', 'secret\n');
			rig.write('home/.claude/login', 'token\n');
			rig.write('home/.claude.json', '{}\n');
			rig.write('home/.config/app/settings', 'set\n');
			rig.write('home/project/file', 'base\n');
			rig.settle();
		});

		test('it stays visible and read-only, and what it covers stays covered', () => {
			const script =
				'ls ~/mnt; cat ~/mnt/file; (echo x > ~/mnt/file || echo no) 2>/dev/null; cat ~/.ssh/id 2>/dev/null; cat ~/.bashrc file';
			const ran = rig.perform(task(script), mount(join(rig.home, 'mnt')));
			expect([ran.stdout, ran.stderr]).toEqual(['file\nmounted\nno\nrc\nbase\n', '']);
		});

		test('agents and tools can still write what is theirs, and new files in home', () => {
			const script =
				'echo new > ~/.claude/login && echo x > ~/.config/app/settings && echo "{1}" > ~/.tmp && mv ~/.tmp ~/.claude.json && touch ~/own && cat ~/.claude/login ~/.claude.json';
			const before = mount(join(rig.home, 'mnt'));
			expect(rig.perform(task(script), before).stdout).toBe('new\n{1}\n');
			expect(readFileSync(join(rig.home, '.claude.json'), 'utf8')).toBe('{}\n');
			expect(existsSync(join(rig.home, 'own'))).toBe(false);
			const again = rig.perform(task('cat ~/.claude/login ~/.claude.json ~/.config/app/settings; ls ~/own'), before);
			expect([again.stdout, again.stderr]).toEqual([`new\n{1}\nx\n${rig.home}/own\n`, '']);
		});

		test('below the project: as root it is shown again, without privileges it is refused by name', () => {
			mkdirSync(join(rig.project, 'volume'));
			rig.settle();
			const ran = rig.perform(task('cat volume/file; touch volume/x'), mount(join(rig.project, 'volume')));
			if (account.uid === 0)
				expect([ran.stdout, ran.stderr]).toEqual(['mounted\n', expect.stringContaining('Read-only')]);
			else
				expect(ran.refusal).toMatchObject({
					kind: 'sandbox',
					code: 'mount-below-base',
					message: expect.stringContaining('/project/volume'),
				});
		});

		test('a project that is itself a mount', () => {
			const ran = rig.perform(task('cat file; echo x > file; cat file'), mount(rig.project));
			expect([ran.stdout, ran.stderr, ran.refusal]).toEqual(['mounted\nx\n', '', undefined]);
		});
	});
});
