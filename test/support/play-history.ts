import fc from 'fast-check';
import { expect } from 'vitest';
import { checkIntegrity } from '../../src/store/integrity.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { type HistoryStep, TreeHistory } from './tree-history.ts';
import { treeStep } from './tree-steps.ts';

const pair = { a: fc.nat(1000), b: fc.nat(1000) };
const historyStep: fc.Arbitrary<HistoryStep> = fc.oneof(
	{
		weight: 30,
		arbitrary: fc.record({ kind: fc.constant('tree' as const), step: treeStep(), home: fc.constant(false) }),
	},
	{
		weight: 3,
		arbitrary: fc.record({ kind: fc.constant('tree' as const), step: treeStep(), home: fc.constant(true) }),
	},
	{ weight: 4, arbitrary: fc.record({ kind: fc.constant('snapshot' as const), ...pair }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('seal' as const), ...pair }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('restore' as const), ...pair }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('restoreProject' as const), ...pair }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('apply' as const), ...pair }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('fork' as const), ...pair }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('gc' as const), ...pair }) },
);

/** Plays a history in a new store; every state that it ever had must read as it was. */
export function playHistory(steps: readonly HistoryStep[]): void {
	using place = temporaryDirectory();
	const store = Store.create(place.join('s.db'));
	try {
		const history = new TreeHistory(store);
		for (const [index, step] of steps.entries()) {
			history.play(step);
			if (index % 8 === 0) history.checkPresent();
		}
		history.checkAll();
		store.tree.seal();
		history.checkAll();
		const [first, last] = [Math.min(...history.snapshots.keys()), Math.max(...history.snapshots.keys())];
		history.applyDifference(first, last);
		history.applyDifference(last, first);
		history.checkAll();
		expect(checkIntegrity(store).checks.filter(({ found, harmless }) => found > 0 && harmless !== true)).toEqual([]);
	} finally {
		store.close();
	}
}

/** A random history of at most 150 steps. */
export const history: fc.Arbitrary<HistoryStep[]> = fc.array(historyStep, { maxLength: 150, size: 'max' });
