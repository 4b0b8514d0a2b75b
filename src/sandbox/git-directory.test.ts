import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { findGitDirectory } from './git-directory.ts';

let place: TemporaryDirectory;
beforeEach(() => {
	place = temporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

function git(...args: string[]): void {
	const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: place.path, GIT_CONFIG_NOSYSTEM: '1' };
	const identity = ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'protocol.file.allow=always'];
	execFileSync('git', [...identity, ...args], { cwd: place.path, env: environment, stdio: 'pipe' });
}

function repository(name: string): void {
	git('init', '-q', name);
	git('-C', name, 'commit', '-q', '--allow-empty', '-m', 'first');
}

const found = (project: string, forbidden: string[] = []) => {
	const path = findGitDirectory(place.join(project), forbidden);
	return path === null ? null : path.slice(place.path.length + 1);
};

test('of a plain repository, and of no repository, there is none outside', () => {
	repository('plain');
	mkdirSync(place.join('nothing'));
	expect(found('plain')).toBeNull();
	expect(found('nothing')).toBeNull();
});

test('of a worktree it is the common directory', () => {
	repository('main');
	git('-C', 'main', 'worktree', 'add', '-q', '../tree');
	expect(found('tree')).toBe('main/.git');
});

test('of a worktree of a bare repository that holds it, it is that repository', () => {
	repository('main');
	git('clone', '-q', '--bare', 'main', 'bare.git');
	git('-C', 'bare.git', 'worktree', 'add', '-q', 'tree');
	expect(found('bare.git/tree')).toBe('bare.git');
});

test('of a submodule it is its place in the outer repository', () => {
	repository('inner');
	repository('outer');
	git('-C', 'outer', 'submodule', 'add', '-q', '../inner', 'module');
	expect(found('outer/module')).toBe('outer/.git/modules/module');
});

test('of one made with --separate-git-dir it is that directory', () => {
	git('init', '-q', '--separate-git-dir', 'elsewhere', 'project');
	expect(found('project')).toBe('elsewhere');
});

describe('what a .git file names is laid over only when it is this project’s own', () => {
	beforeEach(() => {
		repository('main');
		git('-C', 'main', 'worktree', 'add', '-q', '../tree');
		mkdirSync(place.join('evil'));
	});
	const point = (target: string) => writeFileSync(place.join('evil/.git'), `gitdir: ${target}\n`);

	test('another worktree’s directory', () => {
		point(place.join('main/.git/worktrees/tree'));
		expect(found('evil')).toBeNull();
	});

	test('a directory that is none of git’s', () => {
		place.write('secrets/key', '');
		for (const target of [place.join('secrets'), '/etc', '/nope', '']) {
			point(target);
			expect(found('evil')).toBeNull();
		}
	});

	test('a git directory in a forbidden place, or above one', () => {
		point(place.join('main/.git'));
		expect(found('evil', [place.join('main')])).toBeNull();
		expect(found('evil', [place.join('main/.git/objects')])).toBeNull();
		symlinkSync('main', place.join('link'));
		expect(found('evil', [place.join('link')])).toBeNull();
	});

	test('a submodule’s directory that names another work tree', () => {
		git('-C', 'main', 'config', 'core.worktree', '../../main');
		point(place.join('main/.git'));
		expect(found('evil')).toBeNull();
	});

	test('a .git that is a FIFO or a link is not opened', () => {
		execFileSync('mkfifo', [place.join('evil/.git')]);
		expect(found('evil')).toBeNull();
		mkdirSync(place.join('linked'));
		symlinkSync(place.join('tree/.git'), place.join('linked/.git'));
		expect(found('linked')).toBeNull();
	});
});
