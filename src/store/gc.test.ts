import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LayerRig } from '../../test/support/layer-rig.ts';
import { layerStep, playLayerStep } from '../../test/support/random-layer.ts';
import { collectGarbage } from './gc.ts';
import { checkIntegrity } from './integrity.ts';

describe('collectGarbage', () => {
	it('leaves every remaining snapshot and the present as they were, and nothing that no snapshot holds', () => {
		const rounds = fc.array(
			fc.record({ steps: fc.array(layerStep, { maxLength: 30 }), drop: fc.array(fc.nat(30), { maxLength: 12 }) }),
			{ minLength: 1, maxLength: 4 },
		);
		fc.assert(
			fc.property(rounds, (list) => {
				using rig = new LayerRig();
				for (const { steps, drop } of list) {
					for (const step of steps) playLayerStep(rig, step);
					const before = rig.ids().map((id) => [id, rig.dump(id)] as const);
					const present = rig.dump('now');
					const dry = collectGarbage(rig, { drop, dryRun: true });
					expect(rig.ids()).toEqual(before.map(([id]) => id));

					const report = collectGarbage(rig, { drop });

					expect(report).toMatchObject({ dropped: dry.dropped, pastRows: dry.pastRows, blobs: dry.blobs });
					const left = before.filter(([id]) => !report.dropped.includes(id));
					expect(rig.ids()).toEqual(left.map(([id]) => id));
					for (const [id, dump] of left) expect(rig.dump(id)).toEqual(dump);
					expect(rig.dump('now')).toEqual(present);
					expect(forgottenVersions(rig)).toEqual([]);
					const { checks } = checkIntegrity(rig);
					expect(checks.filter(({ found, ran }) => found > 0 || !ran)).toEqual([]);
				}
			}),
			{ numRuns: 60 },
		);
	});

	it('keeps a version that only the last snapshot of its interval holds', () => {
		using rig = new LayerRig();
		rig.snapshot();
		rig.put('f', { kind: 'file', content: 'old', mode: 0o600 });
		const holder = rig.snapshot();
		rig.put('f', { kind: 'file', content: 'new', mode: 0o600 });
		rig.snapshot();
		const dump = rig.dump(holder);
		expect(rig.number('select born=2 and died=3 from chunk_past')).toBe(1);

		expect(collectGarbage(rig, { drop: [1] })).toMatchObject({ dropped: [1], pastRows: 0, blobs: 0 });
		expect(rig.dump(holder)).toEqual(dump);
	});

	it('drops a version that ends where the next snapshot begins', () => {
		using rig = new LayerRig();
		rig.put('f', { kind: 'file', content: 'old', mode: 0o600 });
		rig.snapshot();
		rig.put('f', { kind: 'file', content: 'new', mode: 0o600 });
		rig.snapshot();

		expect(collectGarbage(rig, { drop: [1] })).toMatchObject({ dropped: [1], blobs: 1, blobBytes: 3 });
		expect(rig.number('select count(*) from chunk_past')).toBe(0);
	});

	it('drops a version that begins where the snapshot before it ended', () => {
		using rig = new LayerRig();
		rig.snapshot();
		rig.put('f', { kind: 'file', content: 'of 2', mode: 0o600 });
		rig.snapshot();
		rig.remove('f');
		rig.snapshot();

		expect(collectGarbage(rig, { drop: [2] })).toMatchObject({ dropped: [2], blobs: 1 });
		expect(rig.number('select count(*) from chunk_past')).toBe(0);
	});

	it('spares the position, tags, what the caller keeps, what is read and what an apply still writes', () => {
		using rig = new LayerRig();
		for (const tag of [null, 'release', null, null, null, null]) {
			rig.put('f', { kind: 'file', content: `${rig.ids().length}`, mode: 0o600 });
			rig.snapshot(tag);
		}
		rig.db.exec(
			`insert into applied(created, created_ns, state, snapshot, saved, paths) values(0, 0, 'writing', 5, ${rig.root}, '[]')`,
		);

		const report = collectGarbage(rig, {
			drop: [1, 2, 3, 4, 5, 6, 7, 1],
			keep: new Set([3]),
			isBeingRead: (id) => id === 4,
		});

		expect(report.dropped).toEqual([1]);
		expect(report.spared).toEqual([
			{ id: 2, why: 'tagged' },
			{ id: 3, why: 'kept' },
			{ id: 4, why: 'being read' },
			{ id: 5, why: 'apply not finished' },
			{ id: 6, why: 'position' },
			{ id: 7, why: 'missing' },
		]);
	});

	it.each([
		['undoing', 'apply not finished'],
		['done', 'apply can be undone'],
	] as const)('spares what an apply wrote that is %s', (state, why) => {
		using rig = new LayerRig();
		for (let taken = 0; taken < 3; taken++) rig.snapshot();
		const insert = (snapshot: number) =>
			rig.db.exec(
				`insert into applied(created, created_ns, state, snapshot, saved, paths) values(0, 0, '${state}', ${snapshot}, ${rig.root}, '[]')`,
			);
		if (state === 'done') insert(1);
		insert(2);
		const report = collectGarbage(rig, { drop: [1, 2] });
		expect(report.dropped).toEqual([1]);
		expect(report.spared).toEqual([{ id: 2, why }]);
	});

	it('asks only of those that would go whether they are read', () => {
		using rig = new LayerRig();
		for (let count = 0; count < 3; count++) rig.snapshot();
		const asked: number[] = [];
		collectGarbage(rig, { drop: [1, 2, 3], keep: new Set([2]), isBeingRead: (id) => asked.push(id) === 0 });
		expect(asked).toEqual([1]);
	});

	it('lets the children of a dropped snapshot grow from its nearest remaining ancestor', () => {
		using rig = new LayerRig();
		for (let count = 0; count < 4; count++) rig.snapshot();
		rig.snapshot(null, 3);
		collectGarbage(rig, { drop: [2, 3] });
		expect(rig.snapshots.list().map(({ id, parent }) => [id, parent])).toEqual([
			[1, null],
			[4, 1],
			[5, 1],
		]);
		collectGarbage(rig, { drop: [1] });
		expect(rig.snapshots.get(4)?.parent).toBe(null);
	});

	it('ends on parents that lead in a circle', () => {
		using rig = new LayerRig();
		for (let count = 0; count < 4; count++) rig.snapshot();
		rig.db.exec('update snapshot set parent=2 where id=1; update snapshot set parent=1 where id=2');
		expect(collectGarbage(rig, { drop: [1, 2] }).dropped).toEqual([1, 2]);
		expect(rig.snapshots.get(3)?.parent).toBe(null);
	});

	it('removes blobs of ingestion that was cut short, and keeps those of origins', () => {
		using rig = new LayerRig();
		const kept = rig.write(() => rig.blobs.put(Buffer.from('of an origin')));
		rig.write(() => rig.blobs.put(Buffer.from('of nobody')));
		rig.write(() => rig.blobs.open(Buffer.from('open to a chunk that is gone'), 77, 0, 1));
		rig.db
			.prepare("insert into origin values(?, 'f', 'file', 0, 12, 0, 0, 0, 0, null, null, ?, 1)")
			.run(rig.root, kept);

		expect(collectGarbage(rig, { drop: [] })).toMatchObject({ dropped: [], blobs: 2, pastRows: 0 });
		expect(rig.blobs.read(kept).toString()).toBe('of an origin');
		expect(rig.number('select count(*) from open')).toBe(0);
		expect(rig.number('select count(*) from seal')).toBe(1);
	});

	it('makes the file smaller', () => {
		using rig = new LayerRig();
		for (let count = 0; count < 20; count++) {
			rig.put('f', { kind: 'file', content: `${count}`.repeat(20_000), mode: 0o600 });
			rig.snapshot();
		}
		const pages = rig.number('pragma page_count');
		const report = collectGarbage(rig, { drop: rig.ids().slice(0, -1) });
		expect(rig.number('pragma freelist_count')).toBe(0);
		expect(report.freedBytes).toBe((pages - rig.number('pragma page_count')) * rig.number('pragma page_size'));
		expect(report.freedBytes).toBeGreaterThan(0);
	});
});

/** Past rows that no snapshot holds, found without any code of gc. */
function forgottenVersions(rig: LayerRig): [born: number, died: number][] {
	const rows = ['inode', 'entry', 'chunk', 'xattr'].flatMap((table) =>
		rig.db.prepare<[number, number]>(`select born, died from ${table}_past`, 'tuple').all(),
	);
	const ids = rig.ids();
	return rows.filter(([born, died]) => !ids.some((id) => id >= born && id < died));
}
