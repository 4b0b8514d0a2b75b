import { describe, expect, it } from 'vitest';
import { directory, file, MemoryBase, MemoryLayer, type MemoryTree } from '../../test/support/memory-trees.ts';
import { MergedView } from '../vfs/merged-view.ts';
import { diffViews } from './diff.ts';
import { statText } from './stat-text.ts';

function statOf(base: MemoryTree, layer: MemoryTree): string {
	const host = new MemoryBase(base);
	const from = new MergedView(null, 1, host);
	const to = new MergedView(new MemoryLayer(layer), 1, host);
	return statText(diffViews(from, to, to.layerPaths()), from, to, (path) => path);
}

describe('statText', () => {
	it('counts lines per path, deletions first, with a total', () => {
		const base = { 'b.txt': file('1\n2\n3\n'), 'z.txt': file('gone\n'), bin: file('\0') };
		const layer = {
			'b.txt': file('1\ntwo\n3\nfour\n'),
			'z.txt': 'whiteout',
			bin: file('\0\0'),
			d: directory(),
		} as const;
		expect(statOf(base, layer)).toBe(
			[
				' z.txt | 1 -',
				' b.txt | 3 ++-',
				' bin   | Bin 1 -> 2 bytes',
				' d/    | added directory',
				' 4 paths changed, 2 lines added(+), 2 lines removed(-)',
				'',
			].join('\n'),
		);
	});

	it('is empty when nothing differs', () => {
		expect(statOf({ a: file('a') }, {})).toBe('');
	});

	it('shortens the bars, never the list', () => {
		const layer = Object.fromEntries(
			Array.from({ length: 300 }, (_, index) => [`f${index}`, file('x\n'.repeat(index * 10))]),
		);
		const lines = statOf({}, layer).trimEnd().split('\n');
		expect(lines).toHaveLength(301);
		expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
	});
});
