import { describe, expect, it } from 'vitest';
import { LayerRig } from '../../test/support/layer-rig.ts';
import { type RunStart, Runs } from './runs.ts';

const START: RunStart = {
	argv: ['sh', '-c', 'echo "ä\n\udcff"'],
	cwd: '/work/dir\udcfe',
	agent: null,
	backend: 'kernel',
	started: { sec: 1_700_000_000, nsec: 123_456_789 },
};

describe('Runs', () => {
	it('records a run from start to end, byte for byte and to the nanosecond', () => {
		using rig = new LayerRig();
		const runs = new Runs(rig);
		rig.snapshot();
		const id = runs.start(START);
		expect(runs.get(id)).toEqual({
			...START,
			id,
			ended: null,
			exit: null,
			signal: null,
			firstSnapshot: 1,
			lastSnapshot: null,
		});

		rig.snapshot();
		const ended = { sec: 1_700_000_001, nsec: 1 };
		runs.end(id, { ended, exit: null, signal: 9 });
		expect(runs.get(id)).toMatchObject({ ended, exit: null, signal: 9, firstSnapshot: 1, lastSnapshot: 2 });
	});

	it('lists runs in their order and never uses a number again', () => {
		using rig = new LayerRig();
		const runs = new Runs(rig);
		const first = runs.start(START);
		const second = runs.start({ ...START, argv: ['ls'], agent: 'claude', backend: 'fuse' });
		expect(runs.list().map(({ id, argv, agent }) => [id, argv, agent])).toEqual([
			[first, START.argv, null],
			[second, ['ls'], 'claude'],
		]);
		rig.db.exec('delete from run');
		expect(runs.start(START)).toBeGreaterThan(second);
	});

	it('does not end a run twice, nor one that does not exist', () => {
		using rig = new LayerRig();
		const runs = new Runs(rig);
		const id = runs.start(START);
		const end = { ended: START.started, exit: 0, signal: null };
		runs.end(id, end);
		expect(() => runs.end(id, end)).toThrow(`run ${id} does not exist or has ended already`);
		expect(() => runs.end(99, end)).toThrow('run 99 does not exist');
		expect(runs.get(99)).toBe(null);
	});
});
