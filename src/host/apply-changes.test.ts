import { chmodSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accounts } from '../../test/support/accounts.ts';
import { asAccount } from '../../test/support/as-account.ts';
import { changesBetween, makeTree, treePairs } from '../../test/support/host-trees.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { treeLines } from '../../test/support/tree-hash.ts';
import { HostTree } from './host-tree.ts';

/** Who is not root cannot look into what it denies itself, to compare it. */
const isReadable = userInfo().uid !== 0;

describe.each(accounts())('as $name', (account) => {
	test.each([
		{ durable: false, fresh: false },
		{ durable: true, fresh: false },
		{ durable: false, fresh: true },
	])('any tree becomes any other: %o', (how) => {
		fc.assert(
			fc.property(treePairs, (pairs) => {
				using place = temporaryDirectory();
				chmodSync(place.path, 0o777);
				asAccount(account, () => {
					for (const name of ['a', 'b']) mkdirSync(place.join(name));
					if (!how.fresh) makeTree(place.join('a'), pairs, 'before', isReadable);
					makeTree(place.join('b'), pairs, 'after', isReadable);
					applyDifference(place.join('a'), place.join('b'), how);
				});
				expect(linesOf(place.join('a'))).toEqual(linesOf(place.join('b')));
			}),
			{ numRuns: how.durable ? 12 : 40 },
		);
	});
});

function applyDifference(a: string, b: string, how: { durable: boolean; fresh: boolean }): void {
	const [from, to] = [HostTree.open(a, 'rw'), HostTree.open(b, 'rw')];
	try {
		from.apply(changesBetween(from, to), { ...how, owner: 'exact' });
	} finally {
		from.close();
		to.close();
	}
}

/** Whiteouts have no times or owners to speak of. */
function linesOf(root: string): string[] {
	return treeLines(root).map((line) => line.replace(/ 20000 \d+:\d+ 0 -?\d+ 0 /, ' whiteout '));
}
