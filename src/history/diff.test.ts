import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	directory,
	file,
	MemoryBase,
	MemoryLayer,
	type MemoryNode,
	type MemoryTree,
	sha256,
	special,
	symlink,
} from '../../test/support/memory-trees.ts';
import { parentPath } from '../base/paths.ts';
import { MergedView } from '../vfs/merged-view.ts';
import { type DiffEntry, type DiffOptions, diffViews, sameViews } from './diff.ts';

const view = (layer: MemoryTree | null, base: MemoryTree) =>
	new MergedView(layer === null ? null : new MemoryLayer(layer), 1, new MemoryBase(base));

/** The diff of the bare base and a layer over it. */
function diffOf(base: MemoryTree, layer: MemoryTree, options: DiffOptions = {}): DiffEntry[] {
	const to = view(layer, base);
	return diffViews(view(null, base), to, to.layerPaths(), options);
}

const words = (entries: DiffEntry[]) => entries.map(({ change, path }) => `${change} ${path}`);
const LATER = { sec: 1_800_000_000, nsec: 0 };

describe('diffViews', () => {
	it('tells what was added, removed, modified, changed in mode or in kind', () => {
		const base = { a: file('a'), b: file('b'), c: file('c'), d: file('d') };
		const layer = {
			a: 'whiteout',
			b: file('bb'),
			c: file('c', { mode: 0o755 }),
			d: symlink('c'),
			e: file(''),
		} as const;
		expect(words(diffOf(base, layer))).toEqual(['removed a', 'modified b', 'mode c', 'type d', 'added e']);
	});

	it('gives sizes, modes and hashes of both sides', () => {
		const [entry] = diffOf({ a: file('one', { mode: 0o600 }) }, { a: file('three') });
		expect(entry).toEqual({
			path: 'a',
			change: 'modified',
			kind: 'file',
			oldKind: 'file',
			mode: 0o644,
			oldMode: 0o600,
			size: 5,
			oldSize: 3,
			hash: sha256('three'),
			oldHash: sha256('one'),
		});
	});

	it('lists every file of a directory that went, and of one that an opaque directory replaced', () => {
		const base = { d: directory(), 'd/old': file('o'), 'd/same': file('s'), 'd/e': directory(), 'd/e/x': file('x') };
		expect(words(diffOf(base, { d: 'whiteout' }))).toEqual([
			'removed d',
			'removed d/e',
			'removed d/e/x',
			'removed d/old',
			'removed d/same',
		]);
		const layer = { d: directory({ opaque: true }), 'd/new': file('n'), 'd/same': file('s') };
		expect(words(diffOf(base, layer))).toEqual(['removed d/e', 'removed d/e/x', 'removed d/old', 'added d/new']);
	});

	it('puts deletions first', () => {
		const base = { z: file('z'), y: file('y') };
		expect(words(diffOf(base, { a: file('1'), b: file('2'), z: 'whiteout', y: 'whiteout' })).slice(0, 2)).toEqual([
			'removed y',
			'removed z',
		]);
	});

	it('does not list a file that was written again with the same bytes, nor one of which only times differ', () => {
		const base = { a: file('a'), d: directory() };
		expect(diffOf(base, { a: file('a', { mtime: LATER }), d: directory({ mtime: LATER }) })).toEqual([]);
	});

	it('lists a changed owner or attribute as mode', () => {
		const base = { a: file('a'), b: file('b') };
		const layer = { a: file('a', { uid: 7 }), b: file('b', { xattrs: new Map([['user.k', Buffer.from('v')]]) }) };
		expect(words(diffOf(base, layer))).toEqual(['mode a', 'mode b']);
	});

	it('shows a file that was moved with its bytes as renamed, of several the one with its name', () => {
		const base = { a: file('same'), d: directory(), 'd/n': file('same') };
		const layer = { a: 'whiteout', d: 'whiteout', n: file('same') } as const;
		const entries = diffOf(base, layer);
		expect(words(entries)).toEqual(['removed a', 'removed d', 'renamed n']);
		expect(entries[2]).toMatchObject({ fromPath: 'd/n', oldHash: sha256('same') });
	});

	it('shows a moved inode of the layer as renamed even when its bytes changed too', () => {
		const before = new MemoryLayer({ a: file('one') });
		const to = new MergedView(new MemoryLayer({ b: file('changed') }), 1, null);
		expect(words(diffViews(new MergedView(before, 1, null), to, ['a', 'b']))).toEqual(['renamed b']);
	});

	it('does not call empty files renamed', () => {
		expect(words(diffOf({ a: file('') }, { a: 'whiteout', b: file('') }))).toEqual(['removed a', 'added b']);
	});

	it('leaves out what the filter leaves out, and reads nothing for hashes that were not asked for', () => {
		const base = new MemoryBase({ a: file('a'), b: file('bb') });
		const to = new MergedView(new MemoryLayer({ a: 'whiteout', b: file('c') }), 1, base);
		const options = { hashes: false, include: (path: string) => path === 'b' };
		expect(words(diffViews(new MergedView(null, 1, base), to, to.layerPaths(), options))).toEqual(['modified b']);
		expect(base.reads.filter((read) => read.startsWith('content'))).toEqual([]);
	});

	it('does not walk the base where the layer only merges', () => {
		const base = new MemoryBase({ d: directory(), 'd/a': file('a'), big: directory(), 'big/x': file('x') });
		const to = new MergedView(new MemoryLayer({ d: directory(), 'd/b': file('b') }), 1, base);
		diffViews(new MergedView(null, 1, base), to, to.layerPaths());
		expect(base.reads.filter((read) => read.startsWith('list'))).toEqual([]);
	});

	it('agrees with comparing whole trees path by path', () => {
		fc.assert(
			fc.property(trees(false), trees(true), trees(true), (base, before, after) => {
				const from = view(before, base);
				const to = view(after, base);
				const found = diffViews(from, to, [...from.layerPaths(), ...to.layerPaths()]);
				expect(withoutRenames(found)).toEqual(wholeDiff(view(before, base), view(after, base)));
			}),
			{ numRuns: 500 },
		);
	});
});

describe('sameViews', () => {
	const same = (base: MemoryTree, layer: MemoryTree) => {
		const to = view(layer, base);
		return sameViews(view(null, base), to, to.layerPaths());
	};

	it('takes rows that say what the base says for the same state', () => {
		expect(same({ a: file('a'), d: directory() }, { a: file('a'), d: directory(), x: 'whiteout' })).toBe(true);
	});

	it('sees a file that was only touched, but not the times of directories', () => {
		expect(same({ a: file('a') }, { a: file('a', { mtime: LATER }) })).toBe(false);
		expect(same({ d: directory() }, { d: directory({ mtime: LATER }) })).toBe(true);
	});
});

/** Trees over few names, so that the same path turns up in base and layers as different things. */
function trees(isLayer: boolean): fc.Arbitrary<MemoryTree> {
	const path = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
	const kinds = ['f1', 'f2', 'f1+x', 'directory', 'symlink', 'fifo', ...(isLayer ? ['opaque', 'whiteout'] : [])];
	return fc.array(fc.tuple(path, fc.constantFrom(...kinds)), { maxLength: 10 }).map((rows) => {
		const tree: MemoryTree = {};
		for (const [at, kind] of rows.sort(([a], [b]) => a.length - b.length)) {
			const parent = tree[parentPath(at)];
			const fits =
				parentPath(at) === '' || (parent !== undefined && parent !== 'whiteout' && parent.inode.kind === 'directory');
			if (fits) tree[at] ??= nodeOf(kind);
		}
		return tree;
	});
}

function nodeOf(kind: string): MemoryNode | 'whiteout' {
	switch (kind) {
		case 'whiteout':
			return 'whiteout';
		case 'opaque':
			return directory({ opaque: true });
		case 'directory':
			return directory();
		case 'symlink':
			return symlink('a');
		case 'fifo':
			return special('fifo');
		default:
			return file(kind.slice(0, 2), { mode: kind.endsWith('+x') ? 0o755 : 0o644 });
	}
}

/** The diff with renames taken apart again. */
function withoutRenames(entries: DiffEntry[]): string[] {
	return entries
		.flatMap(({ change, path, fromPath }) =>
			change === 'renamed' ? [`removed ${fromPath}`, `added ${path}`] : [`${change} ${path}`],
		)
		.sort();
}

function wholeDiff(from: MergedView, to: MergedView): string[] {
	const found: string[] = [];
	for (const path of new Set([...from.below(''), ...to.below('')])) {
		const [old, now] = [from.stat(path), to.stat(path)];
		const word =
			old === null
				? 'added'
				: now === null
					? 'removed'
					: old.kind !== now.kind
						? 'type'
						: old.kind === 'file' &&
								JSON.stringify([...from.content(path).pieces()]) !== JSON.stringify([...to.content(path).pieces()])
							? 'modified'
							: old.mode !== now.mode
								? 'mode'
								: null;
		if (word !== null) found.push(`${word} ${path}`);
	}
	return found.sort();
}
