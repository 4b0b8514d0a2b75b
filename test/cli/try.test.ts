import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { treeLines } from '../support/tree-hash.ts';

test('the README’s main job works on a repository, which stays as it was, and leaves nothing behind', () => {
	using project = temporaryDirectory('/var/tmp');
	project.write('README.md', 'a project\n');
	project.write('src/main.c', 'int main(void) { return 0; }\n');
	const identity = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
	for (const args of [
		['init', '--quiet'],
		['add', '--all'],
		[...identity, 'commit', '--quiet', '--message', 'start'],
	]) {
		execFileSync('git', args, { cwd: project.path });
	}
	const before = treeLines(project.path);
	const leftovers = () => readdirSync('/var/tmp').filter((name) => name.startsWith('dropcloth-try.'));
	const leftBefore = leftovers();

	const ran = spawnSync(join(PROJECT, 'try'), [project.path], {
		encoding: 'utf8',
		env: { ...process.env, TERM: 'dumb' },
	});

	expect(ran.status, ran.stdout + ran.stderr).toBe(0);
	expect(ran.stdout).toContain('unchanged, to the byte and the nanosecond');
	expect(ran.stdout).toContain('what I did');
	expect(treeLines(project.path)).toEqual(before);
	expect(leftovers()).toEqual(leftBefore);
});
