import { mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { homeEntriesOf, homeToolsOf } from './home-facts.ts';
import type { SandboxRoot } from './sandbox-spec.ts';

test('what is in home, what the layer has of it, and which of it can be laid over', () => {
	using place = temporaryDirectory();
	const home = place.join('home');
	place.write('home/.claude/login', '');
	place.write('home/.claude.json', '');
	place.write('home/.cache/x', '');
	place.write('home/work/file', '');
	symlinkSync('work', place.join('home/link'));
	mkdirSync(place.join('home/go'));
	place.write('upper/work/changed', '');
	const root: SandboxRoot = { role: 'home', path: home, lowers: [home], upper: place.join('upper'), work: '' };
	const entries = homeEntriesOf(root);
	expect(entries.map(({ name, kind, layer, target }) => [name, kind, layer, target]).sort()).toEqual([
		['.cache', 'directory', 'untouched', null],
		['.claude', 'directory', 'untouched', null],
		['.claude.json', 'other', 'untouched', null],
		['go', 'directory', 'untouched', null],
		['link', 'symlink', 'untouched', 'work'],
		['work', 'directory', 'present', null],
	]);
	const tools = (mountPoints: string[], of: typeof entries | null) =>
		homeToolsOf(root, mountPoints, of)
			.map(({ path, owner }) => `${owner} ${path}`)
			.sort();
	expect(tools([], null)).toEqual(['agent .claude', 'agent .claude.json']);
	expect(tools([`${home}/go/mnt`], entries)).toEqual([
		'agent .claude',
		'agent .claude.json',
		'tool .cache',
		'tool work',
	]);
});
