import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	changeHost,
	type Host,
	type HostNode,
	hostStep,
	inodeAt,
	mergedView,
	overwritten,
	overwrittenBetween,
} from '../../test/support/base-model.ts';
import { inodeOf, LayerRig } from '../../test/support/layer-rig.ts';
import { layerStep, nodeOf, playLayerStep } from '../../test/support/random-layer.ts';
import { type Content, PIECE_BYTES } from '../base/change.ts';
import { writeOverwrittenIntoHistory } from './base-moved.ts';
import { collectGarbage } from './gc.ts';
import { checkIntegrity } from './integrity.ts';

describe('writeOverwrittenIntoHistory', () => {
	it('leaves what every snapshot shows as it was, whatever is applied, and after gc', () => {
		const round = fc.record({
			layer: fc.array(layerStep, { maxLength: 25 }),
			host: fc.array(hostStep, { maxLength: 12 }),
			drop: fc.array(fc.nat(30), { maxLength: 5 }),
			listed: fc.boolean(),
		});
		fc.assert(
			fc.property(fc.array(round, { minLength: 1, maxLength: 5 }), (rounds) => {
				using rig = new LayerRig();
				const shown = new Map<number, Map<string, string>>();
				let host: Host = new Map();
				for (const { layer, host: changes, drop, listed } of rounds) {
					for (const step of layer) {
						playLayerStep(rig, step);
						if (step.what === 'snapshot') shown.set(rig.ids().at(-1) as number, shownIn(rig, 'now', host));
					}
					const present = rig.dump('now');

					const after = changes.reduce(changeHost, host);
					const directory = (path: string) => inodeAt(host, path);
					writeOverwrittenIntoHistory(rig, rig.root, overwrittenBetween(host, after, listed), { directory });
					host = after;

					expect(rig.dump('now')).toEqual(present);
					for (const id of collectGarbage(rig, { drop }).dropped) shown.delete(id);
					expect(rig.ids()).toEqual([...shown.keys()]);
					for (const [id, view] of shown) {
						expect(shownIn(rig, id, host)).toEqual(view);
						expect(rig.snapshots.get(id)).toMatchObject(totalsOf(rig, id));
					}
					expect(checkIntegrity(rig).checks.filter(({ found, ran }) => found > 0 || !ran)).toEqual([]);
				}
			}),
			{ numRuns: 80 },
		);
	});

	it('keeps the old content of a file that no layer has, with the directories above it', () => {
		using rig = new LayerRig();
		rig.snapshot();
		const host: Host = new Map<string, HostNode>([
			['d', nodeOf('directory', 1) as HostNode],
			['d/e', nodeOf('directory', 2) as HostNode],
			['d/e/f', { kind: 'file', content: 'before', mode: 0o640, xattr: 'x' }],
		]);
		const before = shownIn(rig, 1, host);
		const after = new Map(host).set('d/e/f', { kind: 'file', content: 'after', mode: 0o600 });

		const directory = (path: string) => inodeAt(host, path);
		expect(writeOverwrittenIntoHistory(rig, rig.root, overwrittenBetween(host, after), { directory })).toBe(3);

		expect(shownIn(rig, 1, after)).toEqual(before);
		expect(rig.dump('now').size).toBe(1);
		expect(rig.snapshots.get(1)).toMatchObject({ files: 3, bytes: 6 });
	});

	it('writes one row over all snapshots that lack the path, and none where the layer has it', () => {
		using rig = new LayerRig();
		rig.snapshot();
		rig.snapshot();
		rig.put('f', { kind: 'file', content: 'mine', mode: 0o600 });
		rig.snapshot();
		rig.snapshot();
		rig.remove('f');
		rig.snapshot();
		rig.snapshot();

		writeOverwrittenIntoHistory(rig, rig.root, [overwritten('f', { kind: 'file', content: 'base', mode: 0o600 })]);

		const rows = rig.db.prepare('select born, died from entry_past order by born', 'tuple').all();
		expect(rows).toEqual([
			[1, 3],
			[3, 5],
			[5, 7],
		]);
		expect(rig.number('select count(distinct ino) from entry_past')).toBe(2);
	});

	it('writes a whiteout where the base held nothing', () => {
		using rig = new LayerRig();
		rig.snapshot();
		writeOverwrittenIntoHistory(rig, rig.root, [{ path: 'new', before: null, content: null }]);
		expect(rig.dump(1).get('new')).toBe('whiteout');
		expect(rig.snapshots.get(1)).toMatchObject({ files: 0, bytes: 0 });
	});

	it('writes nothing where a whiteout, an opaque directory or a file hides the base', () => {
		using rig = new LayerRig();
		rig.put('w', { kind: 'whiteout' });
		rig.put('o', nodeOf('opaque', 1));
		rig.put('f', nodeOf('file', 3));
		rig.snapshot();
		const list = ['w', 'w/x', 'o/x', 'o/x/y', 'f/x'].map((path) =>
			overwritten(path, nodeOf('directory', 2) as HostNode),
		);
		expect(writeOverwrittenIntoHistory(rig, rig.root, list)).toBe(0);
	});

	it('writes nothing a second time', () => {
		using rig = new LayerRig();
		rig.snapshot();
		const list = [
			overwritten('d', nodeOf('directory', 1) as HostNode),
			overwritten('d/f', nodeOf('file', 5) as HostNode),
		];
		expect(writeOverwrittenIntoHistory(rig, rig.root, list)).toBe(2);
		expect(writeOverwrittenIntoHistory(rig, rig.root, list)).toBe(0);
	});

	it('goes on where a call was cut short', () => {
		using rig = new LayerRig();
		rig.snapshot();
		const list = [
			overwritten('d', nodeOf('directory', 1) as HostNode),
			overwritten('d/f', nodeOf('file', 5) as HostNode),
		];
		writeOverwrittenIntoHistory(rig, rig.root, list.slice(0, 1));
		expect(writeOverwrittenIntoHistory(rig, rig.root, list)).toBe(1);
		expect(rig.snapshots.get(1)).toMatchObject(totalsOf(rig, 1));
	});

	it('refuses a list that leaves out a directory it does not tell about', () => {
		using rig = new LayerRig();
		rig.snapshot();
		expect(() =>
			writeOverwrittenIntoHistory(rig, rig.root, [overwritten('d/f', nodeOf('file', 5) as HostNode)]),
		).toThrow("the base's directory d is neither listed nor known");
	});

	it('stores content that the store has already once', () => {
		using rig = new LayerRig();
		rig.snapshot();
		const list = ['a', 'b'].map((path) => overwritten(path, { kind: 'file', content: 'same', mode: 0o600 }));
		writeOverwrittenIntoHistory(rig, rig.root, list);
		expect(rig.number('select count(*) from blob')).toBe(1);
		expect(rig.number('select count(*) from chunk_past')).toBe(2);
	});

	it('keeps holes as holes and windows in their place', () => {
		using rig = new LayerRig();
		rig.snapshot();
		const size = 2 * PIECE_BYTES + 3;
		const before = { ...inodeOf({ kind: 'file', content: '', mode: 0o600 }), size };
		const data = Buffer.from('end');
		const content: Content = { size, pieces: () => [{ offset: 2 * PIECE_BYTES, data }] };
		writeOverwrittenIntoHistory(rig, rig.root, [{ path: 'sparse', before, content }]);
		const view = rig.at(1);
		const pieces = [...view.content(view.resolve(rig.root, 'sparse') as number).pieces()];
		expect(pieces).toEqual([{ offset: 2 * PIECE_BYTES, data }]);
	});
});

function shownIn(rig: LayerRig, state: number | 'now', host: Host): Map<string, string> {
	return mergedView(rig.at(state), rig.root, host);
}

function totalsOf(rig: LayerRig, snapshot: number): { files: number; bytes: number } {
	const view = rig.at(snapshot);
	const inos = new Set([...view.walk(rig.root)].map(({ ino }) => ino));
	inos.delete(0);
	inos.delete(rig.root);
	const files = [...inos].map((ino) => view.inode(ino));
	return {
		files: files.length,
		bytes: files.reduce((sum, { kind, size }) => sum + (kind === 'file' ? size : 0), 0),
	};
}
