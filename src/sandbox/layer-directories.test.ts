import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, utimesSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sampleSpec } from '../../test/support/sample-spec.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { makeLayerDirectories } from './layer-directories.ts';
import type { HomeEntry, HomeTool, SandboxRoot, SandboxSpec } from './sandbox-spec.ts';

let place: TemporaryDirectory;
beforeEach(() => {
	place = temporaryDirectory();
	place.write('home/project/file', '');
	place.write('home/.claude/login', '');
	place.write('home/.claude.json', '{}');
});
afterEach(() => place[Symbol.dispose]());

function make(change: Partial<SandboxSpec> = {}): void {
	const home = place.join('home');
	const root = (role: SandboxRoot['role'], path: string): SandboxRoot => ({
		role,
		path,
		lowers: [path],
		upper: place.join('layer', role, 'upper'),
		work: place.join('layer', role, 'work'),
	});
	const roots = [root('project', `${home}/project`), root('home', home)];
	makeLayerDirectories(sampleSpec({ roots, home, cwd: `${home}/project`, ...change }));
}

const tools = (): HomeTool[] => [
	{ path: '.claude', directory: true, owner: 'agent', lowers: [place.join('home/.claude')] },
	{ path: '.claude.json', directory: false, owner: 'agent', lowers: [place.join('home/.claude.json')] },
];

test('a new upper directory looks like what it lies over; one that is there is left alone', () => {
	chmodSync(place.join('home/project'), 0o2751);
	utimesSync(place.join('home/project'), 1_000_000, 2_000_000);
	make();
	const upper = lstatSync(place.join('layer/project/upper'));
	expect([upper.mode & 0o7777, upper.mtimeMs]).toEqual([0o2751, 2_000_000_000]);
	chmodSync(place.join('layer/project/upper'), 0o700);
	make();
	expect(lstatSync(place.join('layer/project/upper')).mode & 0o7777).toBe(0o700);
	expect(readdirSync(place.join('layer/home'))).toEqual(['upper', 'work']);
});

test('an empty home: mount points only, directories of agents, and their files once', () => {
	make({ reads: 'project', homeTools: tools() });
	expect(readdirSync(place.join('layer/home/skeleton')).sort()).toEqual(['.claude', 'project']);
	expect(readdirSync(place.join('layer/home/upper')).sort()).toEqual(['.claude', '.claude.json']);
	place.write('layer/home/upper/.claude.json', 'changed');
	make({ reads: 'project', homeTools: tools() });
	expect(readFileSync(place.join('layer/home/upper/.claude.json'), 'utf8')).toBe('changed');
	expect(readFileSync(place.join('home/.claude.json'), 'utf8')).toBe('{}');
});

test('a mount point that is no longer needed is gone at the next launch', () => {
	mkdirSync(place.join('data'));
	const bind = { source: place.join('data'), directory: true, writable: false, reason: '' };
	make({ reads: 'project', binds: [{ ...bind, target: place.join('home/old/data') }] });
	expect(readdirSync(place.join('layer/home/skeleton'))).toEqual(['old', 'project']);
	make({ reads: 'project', binds: [{ ...bind, target: place.join('home/new'), directory: false }] });
	expect(readdirSync(place.join('layer/home/skeleton'))).toEqual(['new', 'project']);
	expect(lstatSync(place.join('layer/home/skeleton/new')).isFile()).toBe(true);
});

test('a home in pieces: a mount point for each entry, links as they are', () => {
	const entry = (name: string, kind: HomeEntry['kind'], target: string | null = null): HomeEntry => ({
		name,
		kind,
		target,
		layer: 'untouched',
	});
	place.write('home/.bashrc', 'rc');
	mkdirSync(place.join('home/mnt'));
	make({
		homeTools: tools(),
		homeEntries: [entry('mnt', 'directory'), entry('.bashrc', 'other'), entry('link', 'symlink', '/etc')],
	});
	const skeleton = place.join('layer/home/skeleton');
	expect(readdirSync(skeleton).sort()).toEqual(['.bashrc', '.claude', 'link', 'mnt', 'project']);
	expect(readlinkSync(`${skeleton}/link`)).toBe('/etc');
	expect(readFileSync(`${skeleton}/.bashrc`, 'utf8')).toBe('');
});
