import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ordinaryAccount } from '../../test/support/accounts.ts';
import { asAccount } from '../../test/support/as-account.ts';
import { DelegatedGroup, groupHierarchy } from '../../test/support/delegated-group.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { type Controller, findParent, groupPath, makeGroup } from './control-group.ts';

/** A tree as a service manager makes it: directories with the controllers that their children have. */
function groups(place: TemporaryDirectory, tree: Readonly<Record<string, string>>): void {
	for (const [path, controllers] of Object.entries(tree)) {
		place.write(`${path}/cgroup.procs`, '');
		place.write(`${path}/cgroup.subtree_control`, `${controllers}\n`);
	}
}

const TREE = {
	'.': 'memory pids',
	'user.service': 'memory pids',
	'user.service/app': 'memory',
	'user.service/app/shell': '',
};

test.each<[readonly Controller[], string | null]>([
	[[], 'user.service/app/shell'],
	[['memory'], 'user.service/app'],
	[['memory', 'pids'], 'user.service'],
])('with %j a group is made in the nearest one that has them: %s', (wanted, expected) => {
	using place = temporaryDirectory();
	groups(place, TREE);
	const own = place.join('user.service/app/shell');
	expect(findParent({ root: place.path, own }, wanted)).toBe(place.join(expected ?? ''));
});

test('nothing above what is delegated is looked at, nor anything outside the hierarchy', () => {
	using place = temporaryDirectory();
	groups(place, { outer: 'memory pids', 'outer/service': 'memory', 'outer/service/shell': '' });
	rmSync(place.join('outer/cgroup.procs'));
	const own = place.join('outer/service/shell');
	expect(findParent({ root: place.path, own }, ['memory'])).toBe(place.join('outer/service'));
	expect(findParent({ root: place.path, own }, ['pids'])).toBeNull();
	expect(findParent({ root: own, own }, ['memory'])).toBeNull();
});

test('a group has the limits', () => {
	using place = temporaryDirectory();
	const path = groupPath(place.path);
	makeGroup(path, { memoryBytes: 4096, pids: 7 });
	expect(readFileSync(`${path}/memory.max`, 'utf8')).toBe('4096');
	expect(readFileSync(`${path}/pids.max`, 'utf8')).toBe('7');
	expect(existsSync(`${path}/memory.swap.max`)).toBe(false);
});

test('a real group is made where one is delegated, one whose maker was killed is removed, and it is gone when disposed of', async (context) => {
	const root = groupHierarchy();
	if (root === null) return context.skip('only root can make a control group, and only of version 2');
	const account = ordinaryAccount();
	const delegated = new DelegatedGroup(root, account);
	try {
		asAccount(account, () => {
			const none = { memoryBytes: null, pids: null };
			const left = makeGroup(`${delegated.path}/dropcloth-999999999-1`, none);
			const path = groupPath(delegated.path);
			using _ = makeGroup(path, none);
			expect(readdirSync(delegated.path).filter((name) => name.startsWith('dropcloth-'))).toEqual([
				path.split('/').at(-1),
			]);
			left[Symbol.dispose]();
		});
		expect(readdirSync(delegated.path).filter((name) => name.startsWith('dropcloth-'))).toEqual([]);
	} finally {
		await delegated[Symbol.asyncDispose]();
	}
});
