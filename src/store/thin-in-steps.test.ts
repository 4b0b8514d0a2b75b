import { expect, test } from 'vitest';
import { playDay } from '../../test/support/day-of-work.ts';
import { fileChange } from '../../test/support/file-content.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { checkIntegrity } from './integrity.ts';
import { Runs } from './runs.ts';
import { PLAIN_TABLES } from './schema.ts';
import type { SnapshotTrigger } from './snapshots.ts';
import { Store } from './store.ts';
import { thinInSteps } from './thin-in-steps.ts';

const DAY = 86_400;

/** A store with a checkpoint a minute for some hours, each of which changed a file and added to another. */
function storeWithHistory(path: string, checkpoints: number): Store {
	const store = Store.create(path);
	const root = store.write(() => store.tree.addRoot('project', null).ino);
	for (let minute = 0; minute < checkpoints; minute++) {
		const changes = [
			fileChange('changed', `${minute}`.repeat(5000)),
			fileChange('log', 'line\n'.repeat(minute)),
			fileChange(`new-${minute % 7}`, `content ${minute % 3}`),
		];
		const staged = store.tree.stage(changes);
		store.write(() => {
			store.tree.apply(root, changes, staged);
			store.tree.snapshot({ trigger: minute === 0 ? 'start' : 'quiet', created: { sec: minute * 60, nsec: 0 } });
		});
	}
	return store;
}

const options = (atLeast = 1) => ({ now: { sec: DAY, nsec: 0 }, redo: [], atLeast });

/** Each snapshot that is left, by all that its reader sees. */
function shown(store: Store): Map<number, string> {
	const root = store.tree.root('project')?.ino as number;
	return new Map(
		store.snapshots.list().map(({ id }) => {
			const view = store.tree.at(id);
			const files = [...view.walk(root)].map(({ path, ino }) => {
				const content = view.inode(ino).kind === 'file' ? [...view.content(ino).pieces()] : [];
				return [path, view.inode(ino), content.map(({ data }) => data.toString('latin1'))];
			});
			return [id, JSON.stringify(files)];
		}),
	);
}

const found = (store: Store) => checkIntegrity(store).checks.filter(({ found, ran }) => found > 0 || !ran);

test('what is left of history reads as before, and nothing is stored that it does not hold', () => {
	using place = temporaryDirectory();
	const store = storeWithHistory(place.join('s.db'), 150);
	const before = shown(store);
	const dropped = [...thinInSteps(store, options())].reduce((sum, count) => sum + count, 0);
	const after = shown(store);
	expect(dropped).toBe(150 - after.size);
	expect(after.size).toBe(1 + 26 + 20);
	for (const [id, text] of after) expect(text).toBe(before.get(id));
	expect(found(store)).toEqual([]);
	expect(store.config.get('thinning')).toBe(null);
	store.close();
});

test('killed after any step it leaves a sound file, and the next thinning removes the rest', () => {
	using place = temporaryDirectory();
	for (let killedAt = 1; ; killedAt++) {
		const path = place.join(`${killedAt}.db`);
		const store = storeWithHistory(path, 60);
		const steps = thinInSteps(store, options());
		let done = false;
		for (let step = 0; step < killedAt; step++) done = steps.next().done === true;
		store.db.close();
		const next = Store.open(path, 'tree');
		expect(checkIntegrity(next).checks.filter(({ found, harmless }) => found > 0 && harmless !== true)).toEqual([]);
		for (const _ of thinInSteps(next, options(64)));
		expect(found(next)).toEqual([]);
		next.close();
		if (done) break;
	}
});

test('content that comes back between any two steps is there', () => {
	using place = temporaryDirectory();
	for (let cameAt = 1; ; cameAt++) {
		const store = storeWithHistory(place.join(`${cameAt}.db`), 60);
		const root = store.tree.root('project')?.ino as number;
		const steps = thinInSteps(store, options());
		let done = false;
		for (let step = 0; step < cameAt; step++) done = steps.next().done === true;
		const changes = Array.from({ length: 40 }, (_, minute) => fileChange(`back-${minute}`, `${minute}`.repeat(5000)));
		const staged = store.tree.stage(changes);
		store.write(() => store.tree.apply(root, changes, staged));
		for (const _ of steps);
		expect(found(store), `step ${cameAt}`).toEqual([]);
		for (const [minute, { path }] of changes.entries()) {
			const content = store.tree.at('now').content(store.tree.at('now').resolve(root, path) as number);
			expect(Buffer.concat([...content.pieces()].map(({ data }) => data)).toString()).toBe(`${minute}`.repeat(5000));
		}
		store.close();
		if (done) break;
	}
});

test('fewer than are worth it stay', () => {
	using place = temporaryDirectory();
	const store = storeWithHistory(place.join('s.db'), 80);
	expect([...thinInSteps(store, options(64))]).toEqual([0]);
	expect(store.snapshots.list()).toHaveLength(80);
	store.close();
});

test('rows of the log neither go nor push a snapshot out', () => {
	using place = temporaryDirectory();
	const store = storeWithHistory(place.join('s.db'), 120);
	const other = storeWithHistory(place.join('t.db'), 120);
	const runs = new Runs(store);
	const start = { argv: ['true'], cwd: '/', agent: null, backend: 'kernel', started: { sec: 0, nsec: 0 } } as const;
	for (let count = 0; count < 500; count++)
		runs.end(runs.start(start), { ended: start.started, exit: 0, signal: null });
	for (const one of [store, other]) for (const _ of thinInSteps(one, options()));
	expect(store.snapshots.list()).toEqual(other.snapshots.list());
	expect(runs.list()).toHaveLength(500);
	store.close();
	other.close();
});

test.each<SnapshotTrigger>(['quiet', 'ceiling', 'request'])(
	'a snapshot by %s that a run began or ended at stays',
	(trigger) => {
		using place = temporaryDirectory();
		const store = storeWithHistory(place.join('s.db'), 60);
		store.write(() => store.db.prepare('update snapshot set trigger = ? where id > 1').run(trigger));
		const runs =
			"insert into run(argv, cwd, started, started_ns, backend, first_snapshot, last_snapshot) values('[]', '/', 0, 0, 'kernel', 7, 9)";
		const applied =
			"insert into applied(created, created_ns, state, snapshot, saved, paths) values(0, 0, 'undone', 12, 1, '[]')";
		store.db.exec(`${runs}; ${applied}`);
		for (const _ of thinInSteps(store, options()));
		const left = store.snapshots.list().map(({ id }) => id);
		expect(left).toEqual(expect.arrayContaining([7, 9, 12]));
		expect(left).not.toContain(8);
		store.close();
	},
);

test('every column that names a snapshot is known', () => {
	const naming = PLAIN_TABLES.flatMap(({ name, columns }) =>
		columns.filter((column) => column.name.includes('snapshot')).map((column) => `${name}.${column.name}`),
	);
	expect(naming).toEqual(['run.first_snapshot', 'run.last_snapshot', 'applied.snapshot']);
});

test('after a day of checkpoints the file is within 1.2 times of the layer and the chunks that history holds', () => {
	using place = temporaryDirectory();
	const size = { checkpoints: 300, files: 300, layerBytes: 4_000_000, hours: 6, thin: true, atLeast: 20 };
	const day = playDay(place.join('s.db'), size);
	expect(day.snapshots).toBeLessThan(300);
	expect(day.fileBytes).toBeLessThan(1.2 * day.heldBytes);
	expect(day.heldBytes).toBeLessThan(day.changedBytes);
});
