import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	bytesOf,
	directory,
	file,
	MemoryBase,
	MemoryLayer,
	type MemoryTree,
	symlink,
} from '../../test/support/memory-trees.ts';
import { parentPath } from '../base/paths.ts';
import { MergedView } from './merged-view.ts';

const view = (layer: MemoryTree, base: MemoryTree) => new MergedView(new MemoryLayer(layer), 1, new MemoryBase(base));
const textAt = (merged: MergedView, path: string) => bytesOf(merged.content(path)).toString();

describe('MergedView', () => {
	it('shows the base where the layer has nothing', () => {
		const merged = view({}, { d: directory(), 'd/a': file('base') });
		expect(merged.list('')).toEqual(['d']);
		expect(textAt(merged, 'd/a')).toBe('base');
		expect(merged.layerNode('d/a')).toBeNull();
	});

	it('hides what a whiteout deletes, and everything below it', () => {
		const merged = view({ d: 'whiteout' }, { d: directory(), 'd/a': file('base'), e: file('') });
		expect(merged.list('')).toEqual(['e']);
		expect(merged.stat('d')).toBeNull();
		expect(merged.stat('d/a')).toBeNull();
	});

	it('merges the names of a directory that both have, with the layer’s mode', () => {
		const merged = view(
			{ d: directory({ mode: 0o700 }), 'd/b': file('layer'), 'd/c': 'whiteout' },
			{ d: directory(), 'd/a': file('base'), 'd/b': file('base'), 'd/c': file('base') },
		);
		expect(merged.list('d')).toEqual(['a', 'b']);
		expect(textAt(merged, 'd/b')).toBe('layer');
		expect(merged.stat('d')?.mode).toBe(0o700);
		expect(merged.place('d')?.base).toBe(true);
	});

	it('shows only the layer in an opaque directory and below', () => {
		const merged = view(
			{ d: directory({ opaque: true }), 'd/e': directory() },
			{ d: directory(), 'd/a': file('base'), 'd/e': directory(), 'd/e/x': file('base') },
		);
		expect(merged.list('d')).toEqual(['e']);
		expect(merged.list('d/e')).toEqual([]);
		expect(merged.stat('d/e/x')).toBeNull();
	});

	it('lets a directory of the layer replace a file of the base, and the other way round', () => {
		const merged = view(
			{ d: directory(), 'd/a': file('new'), f: file('now a file') },
			{ d: file('was a file'), f: directory(), 'f/x': file('') },
		);
		expect(merged.list('d')).toEqual(['a']);
		expect(merged.stat('f/x')).toBeNull();
		expect(() => merged.list('f')).toThrowError(/not a directory/);
	});

	it('does not look through a symlink', () => {
		const merged = view({ s: symlink('d') }, { d: directory(), 'd/a': file('') });
		expect(merged.stat('s/a')).toBeNull();
	});

	it('names every path of a hard-linked inode that is still seen', () => {
		const both = file('x');
		const merged = view({ a: both, d: directory(), 'd/b': both }, {});
		const ino = merged.layerNode('a');
		expect(ino).not.toBeNull();
		expect(merged.pathsOf(ino ?? 0)).toEqual(['a', 'd/b']);
	});

	it('works without a base and without a layer', () => {
		expect(new MergedView(new MemoryLayer({ a: file('x') }), 1, null).list('')).toEqual(['a']);
		expect(new MergedView(null, 1, new MemoryBase({ b: file('x') })).list('')).toEqual(['b']);
		expect(new MergedView(null, 1, null).stat('')).toBeNull();
	});

	it('goes into directories nested deeper than the stack would', () => {
		const path = Array(20_000).fill('d').join('/');
		const base = {
			list: () => ['d'],
			stat: () => directory().inode,
			content: () => {
				throw new Error('not read');
			},
		};
		expect(new MergedView(null, 1, base).stat(`${path}/d`)?.kind).toBe('directory');
	});

	it('agrees with a plain model of whiteouts, opaque directories and replaced kinds', () => {
		const name = fc.constantFrom('a', 'b', 'c');
		const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
		const kind = fc.constantFrom('file', 'directory', 'opaque', 'whiteout');
		const tree = fc.array(fc.tuple(path, kind), { maxLength: 14 });
		fc.assert(
			fc.property(tree, tree, (layerRows, baseRows) => {
				const base = plant(baseRows, false);
				const layer = plant(layerRows, true);
				const merged = view(layer, base);
				const expected = modelOf(layer, base);
				expect([...merged.below('')].sort()).toEqual([...expected.keys()].sort());
				for (const [at, text] of expected) {
					expect(merged.stat(at)?.kind === 'file' ? textAt(merged, at) : null).toBe(text);
				}
			}),
			{ numRuns: 400 },
		);
	});
});

/** Rows as a tree: those whose directory is missing or no directory are left out. */
function plant(rows: [path: string, kind: string][], isLayer: boolean): MemoryTree {
	const tree: MemoryTree = {};
	for (const [path, kind] of [...rows].sort(([a], [b]) => a.length - b.length)) {
		const parent = tree[parentPath(path)];
		if (parentPath(path) !== '' && (parent === undefined || parent === 'whiteout' || parent.inode.kind === 'file'))
			continue;
		if (kind === 'whiteout' && !isLayer) continue;
		if (tree[path] !== undefined) continue;
		const isOpaque = kind === 'opaque' && isLayer;
		tree[path] =
			kind === 'whiteout'
				? 'whiteout'
				: kind === 'file'
					? file(`${isLayer ? 'layer' : 'base'} ${path}`)
					: directory({ opaque: isOpaque });
	}
	return tree;
}

/** Path -> text of the file there, null for a directory. Decides each path by looking at every one of its prefixes. */
function modelOf(layer: MemoryTree, base: MemoryTree): Map<string, string | null> {
	const seen = new Map<string, string | null>();
	for (const path of new Set([...Object.keys(layer), ...Object.keys(base)])) {
		const parts = path.split('/');
		const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
		const row = layer[path];
		if (row !== undefined) {
			if (row !== 'whiteout') seen.set(path, row.inode.kind === 'file' ? row.data.toString() : null);
			continue;
		}
		const hidden = prefixes.slice(0, -1).some((prefix) => {
			const above = layer[prefix];
			const under = base[prefix];
			if (under === undefined || under === 'whiteout' || under.inode.kind !== 'directory') return true;
			return above !== undefined && (above === 'whiteout' || above.inode.kind !== 'directory' || above.inode.opaque);
		});
		const node = base[path];
		if (hidden || node === undefined || node === 'whiteout') continue;
		seen.set(path, node.inode.kind === 'file' ? node.data.toString() : null);
	}
	return seen;
}
