import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApplyRig, describeView } from '../../test/support/apply-rig.ts';
import { directory, file, type MemoryNode, type MemoryTree, symlink } from '../../test/support/memory-trees.ts';
import { treeLines } from '../../test/support/tree-hash.ts';
import { parentPath } from '../base/paths.ts';
import { Refusal } from '../base/refusal.ts';
import { readContent } from '../vfs/read-content.ts';
import { undoApply } from './resume-apply.ts';

type Rows = [path: string, kind: string][];

const path = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const rows = (...kinds: string[]): fc.Arbitrary<Rows> =>
	fc.array(fc.tuple(path, fc.constantFrom(...kinds)), { maxLength: 9 });
const baseRows = rows('text', 'text', 'directory', 'directory', 'link');
const layerRows = rows('text', 'ours', 'ours', 'directory', 'directory', 'opaque', 'whiteout', 'other link', 'mode');
const hostRows = rows('host', 'host', 'host only', 'directory', 'other link', 'gone', 'mode');

describe('apply, for any session over any base that anybody edited meanwhile', () => {
	it('either writes nothing, or loses no edit, shows what the session shows, and can be undone', () => {
		fc.assert(
			fc.property(baseRows, layerRows, hostRows, fc.boolean(), (base, layer, edits, asks) => {
				using rig = new ApplyRig(treeOf(base));
				rig.run(treeOf(layer));
				const edited = editHost(rig, edits);
				const before = treeLines(rig.base);
				const hostBefore = describeView(rig.view('base'));
				try {
					rig.apply({ resolve: asks ? 'ask' : 'theirs' });
				} catch (error) {
					if (!(error instanceof Refusal && error.kind === 'conflict' && asks)) throw error;
					expect(treeLines(rig.base)).toEqual(before);
					return;
				}
				const host = describeView(rig.view('base'));
				for (const at of edited) expectKept(at, hostBefore[at], host[at]);
				expect(describeView(rig.view())).toEqual(host);
				expect(rig.diff()).toEqual([]);
				if (JSON.stringify(host) === JSON.stringify(hostBefore)) return;
				undoApply(rig.store, rig.hosted, { clock: rig.clock });
				expect(describeView(rig.view('base'))).toEqual(hostBefore);
				expect(describeView(rig.view())).toEqual(host);
			}),
			{ numRuns: 1200 },
		);
	}, 580_000);
});

/** What the host's user made of a path is still there: the very same, or merged with what the session made of it. */
function expectKept(at: string, before: string | undefined, after: string | undefined): void {
	if (before === undefined) {
		// Deleted by the user: it may come back only as a directory that the session writes in.
		expect(after === undefined || after.startsWith('directory'), `${at} was deleted and came back as ${after}`).toBe(
			true,
		);
	} else if (before.includes('host line')) {
		expect(after ?? 'nothing', `${at} was edited`).toContain('host line');
	} else {
		expect((after ?? 'nothing').split(' ')[0], `${at} was made`).toBe(before.split(' ')[0]);
	}
}

/** Edits the host as its user would, and gives the paths that are edits: not those that are as they were. */
function editHost(rig: ApplyRig, edits: Rows): string[] {
	const first = describeView(rig.view('base'));
	for (const [at, kind] of edits) {
		const host = rig.view('base');
		const parent = parentPath(at) === '' ? 'directory' : host.stat(parentPath(at))?.kind;
		const here = host.stat(at);
		if (parent !== 'directory') continue;
		if (kind === 'gone') {
			if (here !== null) rig.edit({ [at]: 'whiteout' });
		} else if (kind === 'host') {
			const text = here?.kind === 'file' ? readContent(host.content(at)).toString() : `new\n`;
			if (here?.kind !== 'directory') rig.edit({ [at]: file(`${text}host line\n`) });
		} else if (here === null || (here.kind !== 'directory' && kind !== 'mode')) rig.edit({ [at]: nodeOf(kind, at) });
	}
	const now = describeView(rig.view('base'));
	return [...new Set([...Object.keys(first), ...Object.keys(now)])].filter((at) => first[at] !== now[at]);
}

function treeOf(all: Rows): MemoryTree {
	const tree: MemoryTree = {};
	for (const [at, kind] of [...all].sort(([a], [b]) => a.length - b.length)) {
		const parent = tree[parentPath(at)];
		const fits =
			parentPath(at) === '' || (parent !== undefined && parent !== 'whiteout' && parent.inode.kind === 'directory');
		if (fits) tree[at] ??= kind === 'whiteout' ? 'whiteout' : nodeOf(kind, at);
	}
	return tree;
}

function nodeOf(kind: string, at: string): MemoryNode {
	const text = `first\n${at}\n2\n3\n4\n5\nlast\n`;
	switch (kind) {
		case 'directory':
			return directory();
		case 'opaque':
			return directory({ opaque: true });
		case 'link':
			return symlink('x');
		case 'other link':
			return symlink('y');
		case 'ours':
			return file(`session line\n${text}`);
		case 'host only':
			return file('host line\n');
		case 'mode':
			return file(text, { mode: 0o755 });
		default:
			return file(text);
	}
}
