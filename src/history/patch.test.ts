import { spawnSync } from 'node:child_process';
import {
	chmodSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directory, file, MemoryBase, MemoryLayer, type MemoryTree, symlink } from '../../test/support/memory-trees.ts';
import { decodeName, encodeName } from '../base/bytes.ts';
import { joinPath, parentPath } from '../base/paths.ts';
import { MergedView } from '../vfs/merged-view.ts';
import { readContent } from '../vfs/read-content.ts';
import { diffViews } from './diff.ts';
import { quoteGitPath } from './git-path.ts';
import { writePatch } from './patch.ts';

let place: string;
beforeEach(() => {
	place = mkdtempSync(join(tmpdir(), 'dropcloth-patch-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

describe('writePatch', () => {
	it.each<[what: string, base: MemoryTree, layer: MemoryTree]>([
		[
			'a changed line far from another',
			{ f: file(numbered(100)) },
			{ f: file(numbered(100).replace('\n9\n', '\nnine\n').replace('\n80\n', '\n')) },
		],
		[
			'no newline at the end, before and after',
			{ f: file('a\nb'), g: file('a\n') },
			{ f: file('a\nb\n'), g: file('a') },
		],
		[
			'added and removed files, empty ones too',
			{ f: file('x\n'), g: file('') },
			{ f: 'whiteout', g: 'whiteout', h: file('y\n'), i: file('') },
		],
		[
			'the executable bit',
			{ f: file('x'), g: file('y', { mode: 0o755 }) },
			{ f: file('x', { mode: 0o755 }), g: file('z') },
		],
		[
			'a symlink that is new, changed, gone',
			{ a: symlink('x'), b: symlink('y') },
			{ a: symlink('z'), b: 'whiteout', c: symlink('q/r s') },
		],
		[
			'a file that became a symlink, and the other way',
			{ a: file('x'), b: symlink('y') },
			{ a: symlink('x'), b: file('y') },
		],
		['a file that became a directory', { a: file('x') }, { a: directory(), 'a/b': file('y') }],
		['a directory that became a file', { a: directory(), 'a/b': file('y') }, { a: file('x') }],
		['a moved file', { d: directory(), 'd/a': file('same\n') }, { d: 'whiteout', 'b c': file('same\n') }],
		['a moved file with another mode', { a: file('same\n') }, { a: 'whiteout', b: file('same\n', { mode: 0o755 }) }],
		[
			'binary content',
			{ a: file(Buffer.from([0, 1, 2, 255])) },
			{ a: file(Buffer.from([0, 255, 3])), b: file(noise(70_000)) },
		],
		[
			'binary content that went, and that became text',
			{ a: file('\0'), b: file('\0') },
			{ a: 'whiteout', b: file('text\n') },
		],
		[
			'bytes that are no UTF-8',
			{ a: file(Buffer.from([0xff, 10, 0xe9, 10])) },
			{ a: file(Buffer.from([0xff, 10, 0xe8, 13, 10])) },
		],
	])('git apply makes of the one tree the other: %s', (_, base, layer) => {
		expectApplies(base, layer);
	});

	it('quotes names as git does', () => {
		const names = [
			'a b',
			'q"q',
			'back\\slash',
			'new\nline',
			'tab\t',
			'ümlaut',
			decodeName(Buffer.from([0x61, 0xff])),
			' lead',
			'trail ',
		];
		const base = Object.fromEntries(names.map((name) => [name, file('one\n')]));
		const layer: MemoryTree = Object.fromEntries(names.map((name) => [name, file('two\n', { mode: 0o755 })]));
		expectApplies(base, layer);
		expectApplies({}, base);
		expectApplies(base, Object.fromEntries(names.map((name) => [name, 'whiteout'])));
		expect(quoteGitPath('a/ü"\n')).toBe('"a/\\303\\274\\"\\n"');
	});

	it('replaces the whole when two large texts have nothing in common, in bounded time', () => {
		expectApplies(
			{ f: file(numbered(30_000)) },
			{ f: file(numbered(30_000).replaceAll('1', 'x').replaceAll('\n', '.\n')) },
		);
	});

	it('tells what it cannot say, and still applies', () => {
		const base = { '.git': directory(), '.git/config': file('a'), f: file('x', { mode: 0o644 }) };
		const layer = {
			'.git': directory(),
			'.git/config': file('b'),
			d: directory(),
			f: file('x', { mode: 0o600 }),
			g: file('g'),
		};
		expect(expectApplies(base, layer)).toEqual([
			'.git/config: git takes no patch to what is in .git',
			'd: git keeps no directory',
			'f: git keeps only the executable bit',
		]);
	});

	it('applies for any two trees', () => {
		const line = fc.constantFrom('a', 'b', 'c', '');
		const text = fc
			.tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
			.map(([lines, end]) => lines.join('\n') + (end ? '\n' : ''));
		const node = fc.oneof(
			fc.tuple(text, fc.constantFrom(0o644, 0o755)).map(([content, mode]) => file(content, { mode })),
			fc.uint8Array({ maxLength: 300 }).map((bytes) => file(Buffer.from(bytes))),
			text.map((target) => symlink(`t${target.replaceAll('\n', '/')}`)),
		);
		const name = fc.constantFrom('a', 'b', 'd/a', 'd/b', 'd/e/a');
		const tree = fc.dictionary(name, node, { maxKeys: 5 });
		fc.assert(
			fc.property(tree, tree, (base, after) => {
				const layer: MemoryTree = { ...withDirectories(after) };
				for (const path of Object.keys(base))
					if (layer[path] === undefined && parentIn(layer, path)) layer[path] = 'whiteout';
				rmSync(place, { recursive: true, force: true });
				mkdirSync(place);
				expectApplies(withDirectories(base), layer);
			}),
			{ numRuns: 60 },
		);
	}, 120_000);
});

/** Writes the base out, applies the patch to it with git, and compares with what the layer over the base shows. */
function expectApplies(base: MemoryTree, layer: MemoryTree): string[] {
	const target = mkdtempSync(join(place, 'tree-'));
	const host = new MemoryBase(base);
	const from = new MergedView(null, 1, host);
	const to = new MergedView(new MemoryLayer(layer), 1, host);
	layOut(from, target);
	const skipped: string[] = [];
	const entries = diffViews(from, to, to.layerPaths());
	const patch = Buffer.concat([...writePatch(entries, from, to, ({ path }, why) => skipped.push(`${path}: ${why}`))]);
	const untouched = (path: string) => skipped.some((text) => text.startsWith(`${path}:`));
	if (patch.length > 0) runGit(target, patch);
	const expected = [...to.below('')].filter((path) => !untouched(path)).map((path) => describePath(to, path));
	const found = listTree(target).filter((line) => !untouched(JSON.parse(line)[0]));
	expect(found).toEqual(expected.filter((line) => line !== null).sort());
	return skipped;
}

function runGit(cwd: string, patch: Buffer): void {
	const env = {
		PATH: process.env['PATH'],
		GIT_CONFIG_NOSYSTEM: '1',
		GIT_CONFIG_GLOBAL: '/dev/null',
		GIT_CEILING_DIRECTORIES: place,
	};
	const ran = spawnSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd, env, input: patch });
	if (ran.status !== 0) throw new Error(`git apply: ${ran.stderr}\n${patch}`);
}

function layOut(view: MergedView, target: string): void {
	for (const path of view.below('')) {
		const inode = view.stat(path);
		const at = encodeName(`${target}/${path}`);
		if (inode?.kind === 'directory') mkdirSync(at);
		else if (inode?.kind === 'symlink') symlinkSync(encodeName(inode.target ?? ''), at);
		else if (inode !== null) {
			writeFileSync(at, readContent(view.content(path)));
			chmodSync(at, inode.mode);
		}
	}
}

/** Files and links as git sees them: path, executable or link, content. */
function describePath(view: MergedView, path: string): string | null {
	const inode = view.stat(path);
	if (inode?.kind === 'symlink') return JSON.stringify([path, 'link', inode.target]);
	if (inode?.kind !== 'file') return null;
	return JSON.stringify([path, (inode.mode & 0o100) !== 0, readContent(view.content(path)).toString('latin1')]);
}

function listTree(root: string, below = ''): string[] {
	const lines: string[] = [];
	for (const entry of readdirSync(encodeName(joinPath(root, below)), { encoding: 'buffer' })) {
		const path = joinPath(below, decodeName(entry));
		const at = encodeName(`${root}/${path}`);
		const stat = lstatSync(at);
		if (stat.isDirectory()) lines.push(...listTree(root, path));
		else if (stat.isSymbolicLink()) lines.push(JSON.stringify([path, 'link', decodeName(readlinkSync(at, 'buffer'))]));
		else lines.push(JSON.stringify([path, (stat.mode & 0o100) !== 0, readFileSync(at).toString('latin1')]));
	}
	return lines.sort();
}

function withDirectories(tree: MemoryTree): MemoryTree {
	const whole: MemoryTree = {};
	for (const [path, node] of Object.entries(tree)) {
		for (let at = parentPath(path); at !== ''; at = parentPath(at)) whole[at] = directory();
		whole[path] = node;
	}
	return whole;
}

function parentIn(tree: MemoryTree, path: string): boolean {
	const parent = parentPath(path);
	if (parent === '') return true;
	if (tree[parent] === undefined && parentIn(tree, parent)) tree[parent] = directory();
	const node = tree[parent];
	return node !== undefined && node !== 'whiteout' && node.inode.kind === 'directory';
}

function numbered(count: number): string {
	return Array.from({ length: count }, (_, index) => `${index}\n`).join('');
}

function noise(size: number): Buffer {
	const data = Buffer.alloc(size);
	for (let at = 0, state = 7; at < size; at++) {
		state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
		data[at] = state >> 16;
	}
	return data;
}
