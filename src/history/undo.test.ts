import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { snapshotsBackFrom } from './log.ts';
import { parseTrail, planRedo, planUndo, type RedoTrail, trailAfterUndo } from './undo.ts';

/** A session whose state is one word: what the tree holds. */
class History {
	readonly snapshots: { id: number; parent: number | null; state: string }[] = [{ id: 1, parent: null, state: '' }];
	position = 1;
	present = '';
	trail: RedoTrail = [];

	get(id: number) {
		return this.snapshots[id - 1] ?? null;
	}

	same(a: number | 'now', b: number | 'now') {
		const stateOf = (point: number | 'now') => (point === 'now' ? this.present : this.get(point)?.state);
		return stateOf(a) === stateOf(b);
	}

	snap(): number {
		const id = this.snapshots.length + 1;
		this.snapshots.push({ id, parent: this.position, state: this.present });
		this.position = id;
		return id;
	}

	run(state: string) {
		this.present = state;
		return this.same('now', this.position) ? this.position : this.snap();
	}

	undo(steps = 1): boolean {
		const present = this.same('now', this.position) ? this.position : this.snap();
		const plan = planUndo(this, steps);
		if (plan === null) return false;
		this.trail = trailAfterUndo(this, plan, present, this.trail);
		this.#restore(plan.target);
		return true;
	}

	redo(): boolean {
		const plan = planRedo(this, this.trail);
		if (plan === null) return false;
		this.trail = plan.trail;
		this.#restore(plan.target);
		return true;
	}

	#restore(id: number) {
		this.position = id;
		this.present = this.get(id)?.state ?? '';
	}
}

describe('undo and redo', () => {
	it('goes back one state and forth again', () => {
		const history = new History();
		history.run('a');
		history.run('b');
		expect(history.undo()).toBe(true);
		expect(history.present).toBe('a');
		expect(history.redo()).toBe(true);
		expect(history.present).toBe('b');
		expect(history.redo()).toBe(false);
	});

	it('empties the layer right after the first run, and then has nothing to undo', () => {
		const history = new History();
		history.run('a');
		expect(history.undo()).toBe(true);
		expect(history.present).toBe('');
		expect(history.undo()).toBe(false);
	});

	it('has nothing to undo when only equal snapshots were taken', () => {
		const history = new History();
		history.snap();
		history.snap();
		expect(planUndo(history, 1)).toBeNull();
	});

	it('skips snapshots that equal the present, however many', () => {
		const history = new History();
		history.run('a');
		history.run('b');
		history.snap();
		history.snap();
		expect(planUndo(history, 1)).toEqual({ target: 2, left: ['now'], steps: 1 });
	});

	it('first undoes what no snapshot holds yet', () => {
		const history = new History();
		history.run('a');
		history.present = 'unsaved';
		expect(planUndo(history, 1)?.target).toBe(2);
		history.undo();
		history.redo();
		expect(history.present).toBe('unsaved');
	});

	it('goes as far back as history does when more is asked', () => {
		const history = new History();
		history.run('a');
		history.run('b');
		expect(planUndo(history, 9)).toEqual({ target: 1, left: ['now', 2], steps: 2 });
	});

	it('redoes an undo of several steps one by one', () => {
		const history = new History();
		for (const state of ['a', 'b', 'c']) history.run(state);
		history.undo(3);
		expect(['', 'a', 'b', 'c'].slice(1).map(() => history.redo() && history.present)).toEqual(['a', 'b', 'c']);
	});

	it('forgets the trail once something new was done, but not for a snapshot that changes nothing', () => {
		const history = new History();
		history.run('a');
		history.run('b');
		history.undo();
		history.snap();
		expect(planRedo(history, history.trail)?.target).toBe(3);
		history.run('c');
		expect(planRedo(history, history.trail)).toBeNull();
		history.undo();
		expect(history.trail).toHaveLength(1);
	});

	it('brings back, by as many redos, what any undos took', () => {
		const action = fc.oneof(
			fc.constantFrom('a', 'b', 'c').map((state) => ({ run: state, undo: 0 })),
			fc.integer({ min: 1, max: 3 }).map((steps) => ({ run: '', undo: steps })),
		);
		fc.assert(
			fc.property(fc.array(action, { maxLength: 12 }), fc.integer({ min: 1, max: 4 }), (actions, undos) => {
				const history = new History();
				for (const { run, undo } of actions) {
					if (undo > 0) history.undo(undo);
					else history.run(run);
				}
				const states = [history.present];
				for (let step = 0; step < undos && history.undo(); step++) states.push(history.present);
				for (const state of states.reverse().slice(1)) {
					expect(history.redo()).toBe(true);
					expect(history.present).toBe(state);
				}
			}),
		);
	});

	it('reads its trail back from JSON and refuses another shape', () => {
		expect(parseTrail(JSON.stringify([3, 2]))).toEqual([3, 2]);
		expect(parseTrail(null)).toEqual([]);
		expect(() => parseTrail('{"position":2}')).toThrowError(/malformed/);
	});
});

describe('snapshotsBackFrom', () => {
	it('follows parents from the position and ends before one that was dropped', () => {
		const rows = new Map([
			[5, { id: 5, parent: 4 }],
			[4, { id: 4, parent: 2 }],
		]);
		expect(snapshotsBackFrom({ get: (id) => rows.get(id) ?? null }, 5).map(({ id }) => id)).toEqual([5, 4]);
	});
});
