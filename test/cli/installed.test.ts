import { chmodSync, constants, copyFileSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { type SessionRig, sessionRig } from '../support/session-rig.ts';
import { PROJECT } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Where Node and the package are installed: what stands before the system's directories in $PATH. */
type Install = (rig: SessionRig, tmp: string) => string;

function putNode(path: string): void {
	mkdirSync(dirname(path), { recursive: true });
	copyFileSync(process.execPath, path, constants.COPYFILE_FICLONE);
	chmodSync(path, 0o755);
}

/** The package as npm puts it below a prefix. */
function putPackage(prefix: string): void {
	const lib = join(prefix, 'lib/node_modules/dropcloth');
	putBuild(lib);
	putLink('../lib/node_modules/dropcloth/dist/bin/dropcloth.cjs', join(prefix, 'bin/dropcloth'));
}

function putBuild(directory: string): void {
	cpSync(join(PROJECT, 'dist'), join(directory, 'dist'), { recursive: true });
	copyFileSync(join(PROJECT, 'package.json'), join(directory, 'package.json'));
	// what it needs of others is outside, where it is not looked for inside
	symlinkSync(join(PROJECT, 'node_modules'), join(directory, 'node_modules'));
}

function putLink(target: string, path: string): void {
	mkdirSync(dirname(path), { recursive: true });
	symlinkSync(target, path);
}

function putPrefix(prefix: string): string {
	putNode(join(prefix, 'bin/node'));
	putPackage(prefix);
	return join(prefix, 'bin');
}

const home = ({ cli }: SessionRig) => cli.account.home;

const INSTALLS: readonly [string, Install][] = [
	['in a directory of nvm', (rig) => putPrefix(join(home(rig), '.nvm/versions/node/v20.1.0'))],
	[
		'with a global prefix below home',
		(rig) => {
			putPackage(join(home(rig), '.npm-global'));
			return `${join(home(rig), '.npm-global/bin')}:${dirname(process.execPath)}`;
		},
	],
	[
		'behind links to links',
		(rig) => {
			const bin = join(home(rig), '.local/bin');
			putNode(join(home(rig), '.nodes/20.1.0/bin/node'));
			putLink('20.1.0', join(home(rig), '.nodes/current'));
			putLink('../../.nodes/current/bin/node', join(bin, 'node'));
			putBuild(join(home(rig), 'src/dropcloth'));
			putLink('../../../src/dropcloth', join(home(rig), '.local/lib/node_modules/dropcloth'));
			putLink('../lib/node_modules/dropcloth/dist/bin/dropcloth.cjs', join(bin, 'dropcloth'));
			return bin;
		},
	],
	[
		'by a manager with a program of its own in $PATH',
		(rig) => {
			const shims = join(home(rig), '.manager/shims');
			putPackage(join(home(rig), '.manager/installs/20.1.0'));
			putNode(join(home(rig), '.manager/installs/20.1.0/bin/node'));
			mkdirSync(shims);
			writeFileSync(
				join(shims, 'node'),
				`#!/bin/sh\n. "$HOME/.manager/settings"\nexec "$HOME/.manager/installs/$VERSION/bin/node" "$@"\n`,
			);
			chmodSync(join(shims, 'node'), 0o755);
			writeFileSync(join(home(rig), '.manager/settings'), 'VERSION=20.1.0\n');
			putLink('../installs/20.1.0/bin/dropcloth', join(shims, 'dropcloth'));
			return shims;
		},
	],
	['in a directory like /opt', (rig) => putPrefix(join(rig.place, 'opt/node'))],
	['in the project itself', (rig) => putPrefix(join(rig.project, 'tools/node'))],
	['in /tmp', (_, tmp) => putPrefix(join(tmp, 'node'))],
	[
		'in /tmp, behind links in home',
		(rig, tmp) => {
			const bin = putPrefix(join(tmp, 'node'));
			for (const name of ['node', 'dropcloth']) putLink(join(bin, name), join(home(rig), 'bin', name));
			return join(home(rig), 'bin');
		},
	],
];

describe.each(accounts())('dropcloth works inside as $name', (account) => {
	test.each(INSTALLS)('when it is installed %s', (_, install) => {
		using rig = sessionRig(account);
		using tmp = temporaryDirectory('/tmp');
		const path = `${install(rig, tmp.path)}:/usr/bin:/bin`;
		for (const owned of [rig.place, tmp.path]) account.own(owned);
		const env = { PATH: path, HOME: home(rig), DROPCLOTH_HOME: rig.cli.storePath };
		const quick = (flags: readonly string[], script: string) =>
			account.run(['dropcloth', 'quick', '.', ...flags, '--', 'sh', '-euc', script], { cwd: rig.project, env });
		for (const flags of [[], ['--reads', 'project'], ['--net', 'none', '--reads', 'project']]) {
			const ran = quick(flags, 'echo $$ > f; dropcloth checkpoint here; node -p "40 + 2"');
			expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
			expect(ran.stdout).toMatch(/^took snapshot \d+ 'here'\n42\n$/);
		}
	});

	test('where it is masked, and after the agent has taken its place away', () => {
		using rig = sessionRig(account);
		const nvm = join(home(rig), '.nvm');
		const bin = putPrefix(join(nvm, 'v20.1.0'));
		account.own(rig.place);
		const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: home(rig), DROPCLOTH_HOME: rig.cli.storePath };
		const quick = (flags: readonly string[], script: string) => {
			const ran = account.run(['dropcloth', 'quick', '.', ...flags, '--', 'sh', '-euc', script], {
				cwd: rig.project,
				env,
			});
			expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
			return ran.stdout;
		};
		expect(quick(['--mask', nvm], 'dropcloth checkpoint')).toBe('nothing has changed since snapshot 1\n');
		for (const script of ['rm -r ~/.nvm', 'mkdir ~/.nvm', 'rmdir ~/.nvm; echo x > ~/.nvm', 'ln -sf / ~/.nvm']) {
			quick([], script);
			expect(quick(['--reads', 'project'], 'echo still here')).toBe('still here\n');
		}
	});
});
