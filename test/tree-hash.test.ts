import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fsPath } from '../src/base/bytes.ts';
import { type TemporaryDirectory, temporaryDirectory } from './support/temporary-directory.ts';
import { treeHash, treeLines } from './support/tree-hash.ts';

function sampleTree(): TemporaryDirectory {
	const place = temporaryDirectory();
	place.write('plain', 'text');
	place.write('dir/file', 'more');
	writeFileSync(fsPath(place.join('odd \udcff\n\\name')), 'odd');
	linkSync(place.join('plain'), place.join('second name'));
	symlinkSync('nowhere', place.join('link'));
	execFileSync('mkfifo', [place.join('pipe')]);
	execFileSync('setfattr', ['-n', 'user.k', '-v', 'v', place.join('dir/file')]);
	return place;
}

describe('the hash of a tree', () => {
	test('is the same when nothing changed, and does not hang on a FIFO', () => {
		using place = sampleTree();
		expect(treeHash(place.path)).toBe(treeHash(place.path));
		expect(treeLines(place.path)).toHaveLength(8);
	});

	test.each<[string, (place: TemporaryDirectory) => void]>([
		['content', ({ join }) => writeFileSync(join('plain'), 'texT')],
		['a mode', ({ join }) => chmodSync(join('plain'), 0o600)],
		['a time', ({ join }) => utimesSync(join('plain'), 1, 1)],
		['a name', ({ join }) => renameSync(join('dir/file'), join('dir/file2'))],
		['a new directory', ({ join }) => mkdirSync(join('dir/new'))],
		['an attribute', ({ join }) => execFileSync('setfattr', ['-n', 'user.k', '-v', 'w', join('dir/file')])],
		[
			'a hard link cut',
			({ join }) => execFileSync('sh', ['-c', 'cp -p "$1" x && mv x "$1"', 'sh', join('plain')], { cwd: join() }),
		],
		['a link target', ({ join }) => execFileSync('ln', ['-sfn', 'elsewhere', join('link')])],
	])('sees %s', (_, change) => {
		using place = sampleTree();
		const before = treeLines(place.path);
		change(place);
		expect(treeLines(place.path)).not.toEqual(before);
	});

	test('leaves out the paths that it is told to', () => {
		using place = sampleTree();
		const except = [place.join('dir')];
		const before = treeLines(place.path, { except, anyDirectoryTimes: true });
		place.write('dir/file', 'changed');
		expect(treeLines(place.path, { except, anyDirectoryTimes: true })).toEqual(before);
	});
});
