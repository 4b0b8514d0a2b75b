import { chmodSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { type Account, accounts } from '../../test/support/accounts.ts';
import { asAccount } from '../../test/support/as-account.ts';
import { changesBetween, makeTree, type TreePair, treePairs } from '../../test/support/host-trees.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { treeLines } from '../../test/support/tree-hash.ts';
import type { Change } from '../base/change.ts';
import { armCrash, passedCrashPoints } from './crash-point.ts';
import { HostTree } from './host-tree.ts';
import { type Libc, libc } from './libc.ts';

const isReadable = userInfo().uid !== 0;

afterEach(() => armCrash(null));

describe.each(accounts())('as $name', (account) => {
	test('stopped dead before any of its writes and done again, an application ends at the same tree', () => {
		fc.assert(
			fc.property(treePairs, (pairs) => {
				using place = temporaryDirectory();
				chmodSync(place.path, 0o777);
				let writes = 1;
				while (stopAndFinish(account, place, pairs, writes)) writes += 1;
				const lines = treeLines(place.path);
				for (let write = 1; write <= writes; write += 1) {
					const expected = linesBelow(`after${write}`, lines);
					expect(linesBelow(`tree${write}`, lines), `stopped before write ${write}`).toEqual(expected);
				}
			}),
			{ numRuns: 8 },
		);
	});
});

/** False when there is no such write. */
function stopAndFinish(
	account: Account,
	place: TemporaryDirectory,
	pairs: readonly TreePair[],
	write: number,
): boolean {
	const paths = ['before', 'after', 'tree'].map((name) => place.join(`${name}${write}`));
	return asAccount(account, () => {
		for (const path of paths) mkdirSync(path);
		const [before, after, tree] = paths.map((path) => HostTree.open(path, 'rw')) as [HostTree, HostTree, HostTree];
		makeTree(before.root, pairs, 'before', isReadable);
		makeTree(after.root, pairs, 'after', isReadable);
		makeTree(tree.root, pairs, 'before', isReadable);
		const changes = changesBetween(before, after);
		const isStopped = stopBefore(tree, changes, write);
		tree.apply(changes, { durable: false, owner: 'exact' });
		for (const one of [before, after, tree]) one.close();
		return isStopped;
	});
}

/** From that write on the kernel does nothing for us, not even in a `finally`: what a killed process leaves behind. */
function stopBefore(tree: HostTree, changes: readonly Change[], write: number): boolean {
	const table = libc();
	const whole = { ...table };
	armCrash(write, () => {
		for (const name of WRITING) table[name] = () => 0;
		throw new Error('stopped');
	});
	try {
		tree.apply(changes, { durable: false, owner: 'exact' });
	} catch (error) {
		if (!String(error).includes('stopped')) throw error;
	} finally {
		Object.assign(table, whole);
	}
	const isStopped = passedCrashPoints().length === write;
	armCrash(null);
	return isStopped;
}

const WRITING: readonly (keyof Libc)[] = [
	'pwrite',
	'ftruncate',
	'mkdirat',
	'mknodat',
	'symlinkat',
	'linkat',
	'unlinkat',
	'renameat2',
	'fchown',
	'fchownat',
	'fchmod',
	'chmod',
	'futimens',
	'utimensat',
	'setxattr',
	'fsetxattr',
	'removexattr',
];

/** Whiteouts have no times or owners to speak of. */
function linesBelow(name: string, lines: readonly string[]): string[] {
	return lines
		.filter((line) => line.startsWith(`"${name}/`))
		.map((line) => line.replaceAll(`"${name}/`, '"').replace(/ 20000 \d+:\d+ 0 -?\d+ 0 /, ' whiteout '));
}
