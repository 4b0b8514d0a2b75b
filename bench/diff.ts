import { Store } from '../src/store/store.ts';
import { change, fileChange, inode } from '../test/support/file-content.ts';
import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { timed } from './harness/paired.ts';
import { benchPlace } from './harness/place.ts';

const DIRECTORIES = 1_000;
const FILES = 100_000;
const SNAPSHOTS = 200;
const CHANGED = 100;

/** What differs between two snapshots of a large tree, asked of the store itself. */
export function diff({ full, note }: BenchOptions): Figure[] {
	using place = benchPlace();
	const store = Store.create(place.join('session.db'));
	const root = grow(store);
	note(`${FILES} files and ${SNAPSHOTS} snapshots made`);
	const rounds = Array.from({ length: full ? 41 : 21 }, (_, round) => round);
	const measure = (from: (round: number) => number, to: (round: number) => number, least: number) =>
		rounds.map((round) =>
			timed(() => {
				const { length } = store.tree.changes(from(round), to(round), root);
				if (length < least) throw new Error(`${length} changes from ${from(round)} to ${to(round)}`);
			}),
		);
	const adjacent = measure(
		(round) => 1 + round * 4,
		(round) => 2 + round * 4,
		CHANGED,
	);
	const far = measure(
		() => 1,
		() => 1 + SNAPSHOTS,
		SNAPSHOTS * CHANGED * 0.5,
	);
	store.close();
	const common = { unit: 'ms', theirs: null, against: null } as const;
	return [
		{
			...common,
			name: 'diff/adjacent',
			what: `the changes between adjacent snapshots, ${CHANGED} of ${FILES} files changed, in the store`,
			ours: adjacent,
			goal: { kind: 'at most', value: 30 },
		},
		{
			...common,
			name: 'diff/200 apart',
			what: `the same between snapshots that are ${SNAPSHOTS} apart`,
			ours: far,
			goal: { kind: 'at most', value: 1500 },
		},
	];
}

/** A tree of many files, and as many snapshots in each of which some of them are new. Gives its root. */
function grow(store: Store): number {
	const { ino } = store.write(() => store.tree.addRoot('project', null));
	const directories = Array.from({ length: DIRECTORIES }, (_, index) => change(`d${index}`, inode('directory')));
	const files = Array.from({ length: FILES }, (_, index) => fileChange(pathOf(index), `content of ${index}\n`));
	apply(store, ino, [...directories, ...files]);
	for (let snapshot = 1; snapshot <= SNAPSHOTS; snapshot++) {
		// a step that shares no factor with the number of files: each snapshot changes others
		const chosen = Array.from({ length: CHANGED }, (_, index) => ((snapshot * CHANGED + index) * 7_919) % FILES);
		apply(
			store,
			ino,
			chosen.map((index) => fileChange(pathOf(index), `changed by ${snapshot}: ${index}\n`)),
		);
	}
	return ino;
}

function apply(store: Store, root: number, changes: Parameters<Store['tree']['apply']>[1]): void {
	const staged = store.tree.stage(changes);
	store.write(() => {
		store.tree.apply(root, changes, staged);
		store.tree.snapshot({ trigger: 'quiet', created: { sec: 0, nsec: 0 } });
	});
}

function pathOf(index: number): string {
	return `d${index % DIRECTORIES}/f${Math.floor(index / DIRECTORIES)}`;
}
