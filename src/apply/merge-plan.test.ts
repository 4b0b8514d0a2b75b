import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
	bytesOf,
	directory,
	file,
	MemoryBase,
	MemoryLayer,
	type MemoryNode,
	type MemoryTree,
	symlink,
} from '../../test/support/memory-trees.ts';
import type { Time } from '../base/inode.ts';
import type { Origin } from '../store/origins.ts';
import { MergedView } from '../vfs/merged-view.ts';
import { type PlanOptions, planTarget, type TargetPlan } from './merge-plan.ts';

const START: Time = { sec: 1_700_000_000, nsec: 5 };
const LATER: Time = { sec: 1_800_000_000, nsec: 0 };
const edited = { mtime: LATER, ctime: LATER };
const options: PlanOptions = { resolve: 'ask', selects: () => true, now: { sec: 1_900_000_000, nsec: 0 } };

/** Plans a session that started from `start`, over a host that is `host` now. */
function plan(start: MemoryTree, layer: MemoryTree, host: MemoryTree, asked: Partial<PlanOptions> = {}): TargetPlan {
	const base = new MemoryBase(host);
	const ours = new MergedView(new MemoryLayer(layer), 1, base);
	const touched = new Set(ours.layerPaths());
	return planTarget(
		{
			theirs: new MergedView(null, 1, base),
			ours,
			candidates: ours.layerPaths(),
			startOf: (path) => ({
				origin: touched.has(path) ? originOf(path, start[path]) : null,
				seenAt: { sec: START.sec + 1, nsec: 0 },
			}),
			firstRoot: null,
			originContent: ({ path }) => nodeAt(start, path)?.data ?? null,
		},
		{ ...options, ...asked },
	);
}

function originOf(path: string, node: MemoryNode | 'whiteout' | undefined): Origin {
	const found = node === undefined || node === 'whiteout' ? null : node;
	const kind = found === null ? 'absent' : found.inode.kind;
	if (kind === 'whiteout') throw new Error('no host holds a whiteout');
	const hash =
		kind === 'file'
			? createHash('sha256')
					.update(found?.data ?? '')
					.digest()
			: null;
	const { mode = 0, size = 0, mtime = START, ctime = START, target = null } = found?.inode ?? {};
	return { path, kind, mode, size, mtime, ctime, target, hash, blob: null, trusted: true };
}

function nodeAt(tree: MemoryTree, path: string): MemoryNode | null {
	const node = tree[path];
	return node === undefined || node === 'whiteout' ? null : node;
}

/** The plan in words: `path: what it becomes`. */
function words({ changes, conflicts }: TargetPlan): string[] {
	return [
		...changes.map(
			({ path, after, content }) =>
				`${path}: ${after === null ? 'gone' : content === null ? `${after.kind} ${after.mode.toString(8)}` : bytesOf(content)}`,
		),
		...conflicts.map(({ path, reason }) => `${path}: CONFLICT ${reason}`),
	];
}

describe('planTarget', () => {
	it('takes what only the session changed', () => {
		const start = { a: file('a'), b: file('b'), d: directory(), 'd/x': file('x') };
		const layer = {
			a: file('A'),
			b: 'whiteout',
			c: symlink('a'),
			d: directory(),
			'd/x': file('x', { mode: 0o755 }),
		} as const;
		expect(words(plan(start, layer, start))).toEqual(['a: A', 'b: gone', 'c: symlink 777', 'd/x: file 755']);
	});

	it('does nothing for what is the same on the host already', () => {
		const start = { a: file('a') };
		const layer = { a: file('b', { mtime: LATER }), c: 'whiteout' } as const;
		expect(plan(start, layer, { a: file('b', edited) })).toMatchObject({ changes: [], conflicts: [], settled: ['a'] });
	});

	it('writes a file that was only touched', () => {
		const [change] = plan({ a: file('a') }, { a: file('a', { mtime: LATER }) }, { a: file('a') }).changes;
		expect(change).toMatchObject({ path: 'a', content: null, after: { mtime: LATER } });
	});

	it('leaves the host what only the host changed', () => {
		const start = { a: file('a'), b: file('b') };
		const layer = { a: file('a'), b: file('b') };
		expect(words(plan(start, layer, { a: file('host', edited) }))).toEqual([]);
	});

	it('merges text that both changed in different places, and dates it now', () => {
		const result = plan(
			{ a: file('1\n2\n3\n4\n') },
			{ a: file('one\n2\n3\n4\n') },
			{ a: file('1\n2\n3\nfour\n', edited) },
		);
		expect(words(result)).toEqual(['a: one\n2\n3\nfour\n']);
		expect([...result.merged]).toEqual(['a']);
		expect(result.changes[0]?.after?.mtime).toEqual(options.now);
	});

	it('keeps the mode that the one side changed with the content that the other did', () => {
		const result = plan({ a: file('a') }, { a: file('b') }, { a: file('a', { ...edited, mode: 0o755 }) });
		expect(result.changes[0]?.after?.mode).toBe(0o755);
		expect(words(result)).toEqual(['a: b']);
	});

	it.each<[what: string, start: MemoryTree, layer: MemoryTree, host: MemoryTree, expected: string[]]>([
		[
			'the same line',
			{ a: file('a\n') },
			{ a: file('b\n') },
			{ a: file('c\n', edited) },
			['a: CONFLICT both changed the same lines (1 place)'],
		],
		[
			'binary',
			{ a: file('\0') },
			{ a: file('\0b') },
			{ a: file('\0c', edited) },
			['a: CONFLICT both changed it, and it is not text'],
		],
		[
			'deleted here',
			{ a: file('a') },
			{ a: 'whiteout' },
			{ a: file('b', edited) },
			['a: CONFLICT deleted in the session, changed on the host'],
		],
		[
			'deleted there',
			{ a: file('a') },
			{ a: file('b') },
			{},
			['a: CONFLICT changed in the session, deleted on the host'],
		],
		[
			'made on both sides',
			{},
			{ a: file('a') },
			{ a: file('b', edited) },
			['a: CONFLICT made on both sides with different content'],
		],
		[
			'different kinds',
			{},
			{ a: symlink('x') },
			{ a: file('b', edited) },
			['a: CONFLICT made in the session as a symlink and on the host as a file'],
		],
		[
			'both changed its mode',
			{ a: file('a') },
			{ a: file('a', { mode: 0o600 }) },
			{ a: file('a', { ...edited, mode: 0o755 }) },
			['a: CONFLICT both changed its mode'],
		],
	])('calls it a conflict, and writes nothing: %s', (_, start, layer, host, expected) => {
		const layerWithMore: MemoryTree = { ...layer, other: file('other') };
		expect(words(plan(start, layerWithMore, host))).toEqual(expected);
	});

	it('resolves conflicts as asked', () => {
		const [start, layer, host] = [{ a: file('a\n') }, { a: file('b\n') }, { a: file('c\n', edited) }];
		expect(words(plan(start, layer, host, { resolve: 'ours' }))).toEqual(['a: b\n']);
		expect(words(plan(start, layer, host, { resolve: 'theirs' }))).toEqual([]);
	});

	it('removes a directory with all that it held at the start, and never what came since', () => {
		const start = { d: directory(), 'd/a': file('a') };
		expect(words(plan(start, { d: 'whiteout' }, start))).toEqual(['d: gone', 'd/a: gone']);
		const since = { ...start, 'd/new': file('n', edited) };
		expect(words(plan(start, { d: 'whiteout' }, since))).toEqual([
			'd/new: CONFLICT deleted in the session, changed on the host',
		]);
		expect(words(plan(start, { d: 'whiteout' }, since, { resolve: 'theirs' }))).toEqual(['d/a: gone']);
		expect(words(plan(start, { d: 'whiteout' }, since, { resolve: 'ours' }))).toEqual([
			'd: gone',
			'd/a: gone',
			'd/new: gone',
		]);
	});

	it('keeps a directory in place of the file that the session made of it when something in it stays', () => {
		const start = { d: directory(), 'd/a': file('a') };
		const host = { ...start, 'd/new': file('n', edited) };
		expect(words(plan(start, { d: file('now a file') }, host, { resolve: 'theirs' }))).toEqual(['d/a: gone']);
	});

	it('makes the directories again that the host deleted and the session wrote in', () => {
		const start = { d: directory(), 'd/a': file('a') };
		expect(words(plan(start, { d: directory(), 'd/b': file('b') }, {}))).toEqual(['d: directory 755', 'd/b: b']);
	});

	it('does not write below what is a file on the host now', () => {
		const start = { d: directory() };
		const layer = { d: directory(), 'd/b': file('b') };
		expect(words(plan(start, layer, { d: file('f', edited) }))).toEqual([
			'd/b: CONFLICT d is no directory on the host',
		]);
		expect(words(plan(start, layer, { d: file('f', edited) }, { resolve: 'theirs' }))).toEqual([]);
	});

	it('applies only what is selected, with the directories that it needs', () => {
		const layer = { d: directory(), 'd/a': file('a'), 'd/b': file('b'), c: file('c') };
		expect(words(plan({}, layer, {}, { selects: (path) => path === 'd/a' }))).toEqual(['d/a: a', 'd: directory 755']);
		const start = { d: directory(), 'd/a': file('a'), 'd/b': file('b') };
		expect(words(plan(start, { d: 'whiteout' }, start, { selects: (path) => path !== 'd/b' }))).toEqual(['d/a: gone']);
	});

	it('gives the names of one inode one group', () => {
		const both = file('x');
		const { changes } = plan({ a: file('a') }, { a: both, d: directory(), 'd/b': both }, { a: file('a') });
		expect(changes.map(({ path, link }) => [path, link])).toEqual([
			['a', 'inode 2'],
			['d', null],
			['d/b', 'inode 2'],
		]);
	});
});
