import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { PROJECT } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

// not below /tmp: a sandbox has a /tmp of its own
const place = temporaryDirectory('/var/tmp');
const program = place.join('prefix/bin/dropcloth');
/** A machine with Node and npm and nothing else. */
const bare = place.join('bin');

beforeAll(() => {
	mkdirSync(bare);
	for (const name of ['node', 'npm', 'sh', 'env']) symlinkSync(pathOf(name), join(bare, name));
	const tarball = pack(place.join('package'));
	const more = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--no-update-notifier'];
	succeed(place.path, ['npm', 'install', '--global', '--prefix', place.join('prefix'), ...more, tarball], bare);
	succeed(place.path, ['chmod', '-R', 'a+rX', place.join('prefix')]);
});

afterAll(() => place[Symbol.dispose]());

describe('the published package, installed without a compiler and without install scripts', () => {
	test('brings both launchers, executable', () => {
		for (const arch of ['x64', 'arm64']) {
			const launcher = place.join('prefix/lib/node_modules/dropcloth/dist/native', `launch-${arch}`);
			expect(spawnSync('test', ['-x', launcher]).status, launcher).toBe(0);
		}
	});

	describe.each(accounts())('as $name', (account) => {
		const environment = (store: string) => ({ env: { PATH: `${bare}:/usr/bin:/bin`, DROPCLOTH_HOME: store } });

		test('says its version as JSON and nothing on stderr', () => {
			using store = temporaryDirectory('/var/tmp');
			const ran = account.run([program, 'version', '--json'], environment(store.join('store')));
			expect(ran).toMatchObject({ code: 0, stderr: '' });
			expect(JSON.parse(ran.stdout)).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
		});

		test('runs a command in a sandbox, and the directory stays as it was', () => {
			using store = temporaryDirectory('/var/tmp');
			using project = temporaryDirectory('/var/tmp');
			project.write('file', 'old');
			for (const { path } of [store, project]) account.own(path);
			const options = { ...environment(store.join('store')), cwd: project.path };
			expect(account.run([program, 'quick', '.', '--', 'sh', '-c', 'echo new >file'], options)).toMatchObject({
				code: 0,
			});
			expect(account.run(['cat', 'file'], options).stdout).toBe('old');
			const diff = account.run([program, 'diff', '--name-status'], options);
			expect(diff.stdout).toContain('file');
		});
	});
});

/** Packs a copy of the build, so that the build itself stays as the other tests find it. */
function pack(stage: string): string {
	for (const name of ['package.json', 'README.md', 'LICENSE', 'docs/man']) {
		cpSync(join(PROJECT, name), join(stage, name), { recursive: true });
	}
	cpSync(join(PROJECT, 'dist'), join(stage, 'dist'), { recursive: true });
	succeed(PROJECT, ['node', 'tools/complete-package.mjs', join(stage, 'dist')]);
	succeed(stage, ['npm', 'pack', '--ignore-scripts', '--silent']);
	chmodSync(stage, 0o755);
	return join(stage, `dropcloth-${version()}.tgz`);
}

function version(): string {
	return succeed(PROJECT, ['node', '-p', "require('./package.json').version"]).trim();
}

function pathOf(name: string): string {
	return succeed(PROJECT, ['sh', '-c', `command -v ${name}`]).trim();
}

function succeed(cwd: string, [name, ...args]: readonly string[], path?: string): string {
	const env = path === undefined ? process.env : { ...process.env, PATH: path };
	const { status, stdout, stderr, error } = spawnSync(name as string, args, { cwd, env, encoding: 'utf8' });
	if (status !== 0) throw new Error(`${name} ${args.join(' ')} failed: ${stderr}${stdout}`, { cause: error });
	return stdout;
}
