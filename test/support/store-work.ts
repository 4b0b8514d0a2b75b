import type { Store } from '../../src/store/store.ts';
import { change, fileChange, inode } from './file-content.ts';
import { dumpView } from './tree-model.ts';

/** A store with some history to lose: two trees, two snapshots, a blob that is still open. Gives the project's root. */
export function beginWork(store: Store): number {
	const root = store.write(() => {
		const { ino } = store.tree.addRoot('project', '/base');
		store.tree.addRoot('home', null);
		store.tree.snapshot({ trigger: 'start', created: { sec: 1, nsec: 0 } });
		const directory = store.tree.put(ino, 'd', inode('directory', { xattrs: new Map([['user.a', Buffer.from('1')]]) }));
		const file = store.tree.put(directory, 'f', inode('file'));
		store.tree.write(file, 0, Buffer.from('first'));
		store.tree.link(ino, 'link', file);
		store.tree.whiteout(ino, 'gone');
		return ino;
	});
	store.write(() => store.tree.snapshot({ trigger: 'manual', created: { sec: 2, nsec: 0 }, tag: 'two' }));
	return root;
}

/** One of each thing that writes. Each is one transaction, or leaves the trees alone. */
export const WORK: readonly (readonly [name: string, (store: Store, root: number) => unknown])[] = [
	[
		'apply',
		(store, root) => {
			const changes = [
				change('new', inode('directory', { opaque: true })),
				fileChange('new/a', 'x'.repeat(70_000)),
				fileChange('new/b\udcff', 'b'),
				change('d', null),
				change('d/f', null),
				fileChange('link', 'alone now'),
			];
			const staged = store.tree.stage(changes);
			store.write(() => store.tree.apply(root, changes, staged));
		},
	],
	['snapshot', (store) => store.write(() => store.tree.snapshot({ trigger: 'quiet', created: { sec: 3, nsec: 0 } }))],
	['seal', (store) => store.tree.seal()],
	[
		'write',
		(store, root) =>
			store.write(() => {
				const file = store.tree.at('now').resolve(root, 'new/a') as number;
				store.tree.write(file, 65_530, Buffer.from('across'));
				store.tree.truncate(file, 65_532);
				store.tree.rename(root, 'new', root, 'moved');
			}),
	],
	[
		'snapshot of it',
		(store) => store.write(() => store.tree.snapshot({ trigger: 'exit', created: { sec: 4, nsec: 0 } })),
	],
	['restore', (store, root) => store.write(() => store.tree.restore(2, [root]))],
	['remove', (store, root) => store.write(() => store.tree.remove(root, 'd'))],
	['retag', (store) => store.write(() => store.snapshots.retag(1, 'two', true))],
];

/** Everything that a reader of the store can see, as text. */
export function dumpStore(store: Store): string {
	const roots = store.tree.roots();
	const snapshots = store.snapshots.list();
	const states = ['now' as const, ...snapshots.map(({ id }) => id)].map((ref) =>
		roots.map(({ ino }) => [ref, ino, [...dumpView(store.tree.at(ref), ino)]]),
	);
	return JSON.stringify(
		[roots, snapshots, store.head.values().position, store.head.values().changed, states],
		null,
		'\t',
	);
}
