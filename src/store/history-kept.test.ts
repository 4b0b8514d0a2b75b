import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
	changeHost,
	type Host,
	type HostStep,
	hostStep,
	inodeAt,
	mergedView,
	overwrittenBetween,
} from '../../test/support/base-model.ts';
import { inodeOf } from '../../test/support/layer-rig.ts';
import { nodeOf } from '../../test/support/random-layer.ts';
import { writeOverwrittenIntoHistory } from './base-moved.ts';
import { collectDropped } from './collect-dropped.ts';
import { chooseSnapshots, dropSnapshots } from './drop-snapshots.ts';
import { collectGarbage } from './gc.ts';
import { checkIntegrity } from './integrity.ts';
import { Store } from './store.ts';

/** One step; its numbers are read against the state it meets. */
type Step =
	| { readonly what: 'write'; readonly kind: (typeof KINDS)[number]; readonly where: number; readonly value: number }
	| { readonly what: 'snapshot' | 'seal' | 'repair' }
	| { readonly what: 'restore'; readonly to: number }
	| { readonly what: 'gc'; readonly drop: readonly number[] }
	| { readonly what: 'collect'; readonly drop: readonly number[]; readonly steps: number }
	| { readonly what: 'apply'; readonly changes: readonly HostStep[] };

const KINDS = [
	'file',
	'directory',
	'opaque',
	'whiteout',
	'overwrite',
	'truncate',
	'chmod',
	'remove',
	'link',
	'rename',
] as const;
const NAMES = ['a', 'b', 'c', 'd\udcff'];

const write = fc.record({
	what: fc.constant('write' as const),
	kind: fc.constantFrom(...KINDS),
	where: fc.nat(1000),
	value: fc.nat(40),
});
const step: fc.Arbitrary<Step> = fc.oneof(
	{ weight: 20, arbitrary: write },
	{ weight: 6, arbitrary: fc.constant({ what: 'snapshot' as const }) },
	{ weight: 1, arbitrary: fc.constant({ what: 'seal' as const }) },
	{ weight: 1, arbitrary: fc.constant({ what: 'repair' as const }) },
	{ weight: 2, arbitrary: fc.record({ what: fc.constant('restore' as const), to: fc.nat(30) }) },
	{
		weight: 2,
		arbitrary: fc.record({ what: fc.constant('gc' as const), drop: fc.array(fc.nat(30), { maxLength: 6 }) }),
	},
	{
		weight: 4,
		arbitrary: fc.record({
			what: fc.constant('collect' as const),
			drop: fc.array(fc.nat(30), { maxLength: 6 }),
			steps: fc.nat(30),
		}),
	},
	{
		weight: 2,
		arbitrary: fc.record({ what: fc.constant('apply' as const), changes: fc.array(hostStep, { maxLength: 6 }) }),
	},
);

/** A store with one tree, and beside it the model: the base, and what each snapshot showed when it was taken. */
class History implements Disposable {
	readonly store: Store;
	readonly root: number;
	readonly shown = new Map<number, Map<string, string>>();
	host: Host = new Map();
	/** What collects what dropped snapshots held, between other steps. */
	#collecting: Generator<number> | null = null;
	readonly #directory = mkdtempSync(join(tmpdir(), 'dropcloth-history-'));

	constructor() {
		this.store = Store.create(join(this.#directory, 'session.db'), {});
		this.root = this.store.write(() => this.store.tree.addRoot('project', '/base').ino);
	}

	[Symbol.dispose](): void {
		this.store.close();
		rmSync(this.#directory, { recursive: true });
	}

	play(next: Step): void {
		const { store } = this;
		const pick = (number: number) => [...this.shown.keys()][number % this.shown.size] ?? 0;
		if (next.what === 'write') store.write(() => this.#write(next.kind, next.where, next.value));
		else if (next.what === 'snapshot') this.#snapshot();
		else if (next.what === 'seal') store.tree.seal();
		else if (next.what === 'repair') checkIntegrity(store, { repair: true });
		else if (next.what === 'apply') this.#apply(next.changes);
		else if (next.what === 'gc') {
			for (const id of collectGarbage(store, { drop: next.drop }).dropped) this.shown.delete(id);
		} else if (next.what === 'collect') this.#collect(next.drop, next.steps);
		else if (next.what === 'restore' && this.shown.size > 0) {
			const target = pick(next.to);
			store.write(() => {
				this.#snapshot();
				store.tree.restore(target, [this.root]);
			});
			expect(this.#view('now')).toEqual(this.shown.get(target));
		}
	}

	/** Every snapshot shows what it did, and the file is sound. */
	check(): void {
		expect(this.store.snapshots.list().map(({ id }) => id)).toEqual([...this.shown.keys()]);
		for (const [id, view] of this.shown) expect(this.#view(id)).toEqual(view);
		const wrong = checkIntegrity(this.store).checks.filter(({ found, harmless }) => found > 0 && harmless !== true);
		expect(wrong).toEqual([]);
	}

	#view(state: number | 'now'): Map<string, string> {
		return mergedView(this.store.tree.at(state), this.root, this.host);
	}

	/** Goes on collecting, or drops more and begins anew; given up now and then, like one that was killed. */
	#collect(drop: readonly number[], steps: number): void {
		if (steps === 0 || this.#collecting === null) {
			const { dropped } = chooseSnapshots(this.store.db, { drop });
			dropSnapshots(this.store, dropped);
			for (const id of dropped) this.shown.delete(id);
			this.#collecting = collectDropped(this.store, { first: 1, last: this.store.head.values().head });
		}
		for (let step = 0; step < steps; step++) {
			if (this.#collecting?.next().done === true) this.#collecting = null;
		}
	}

	#snapshot(): void {
		const meta = { trigger: 'manual' as const, created: { sec: 1, nsec: 0 } };
		const id = this.store.write(() => this.store.tree.snapshot(meta));
		this.shown.set(id, this.#view('now'));
	}

	#apply(changes: readonly HostStep[]): void {
		const before = this.host;
		const after = changes.reduce(changeHost, before);
		const directory = (path: string) => inodeAt(before, path);
		writeOverwrittenIntoHistory(this.store, this.root, overwrittenBetween(before, after), { directory });
		this.host = after;
	}

	#write(kind: (typeof KINDS)[number], where: number, value: number): void {
		const { tree } = this.store;
		const view = tree.at('now');
		const inos = [...view.walk(this.root)].map(({ ino }) => ino).filter((ino) => ino !== 0);
		const ofKind = (wanted: string) => inos.filter((ino) => view.inode(ino).kind === wanted);
		const one = (pool: readonly number[]) => pool[(where + value) % Math.max(pool.length, 1)];
		const parent = one(ofKind('directory')) ?? this.root;
		const name = NAMES[where % NAMES.length] as string;
		const file = one(ofKind('file'));
		const named = one(inos.filter((ino) => ino !== this.root));
		if (kind === 'whiteout') tree.whiteout(parent, name);
		else if (kind === 'directory' || kind === 'opaque') tree.put(parent, name, inodeOf(nodeOf(kind, value) as never));
		else if (kind === 'file') {
			const ino = tree.put(parent, name, inodeOf({ kind: 'file', content: '', mode: 0o600 + (value % 8) }), 4096);
			tree.write(ino, value * 1000, Buffer.from(`content ${value % 5}`));
		} else if (kind === 'remove') {
			if (view.lookup(parent, name) !== null) tree.remove(parent, name);
		} else if (kind === 'rename') {
			const from = named === undefined ? undefined : view.names(named)[0];
			if (from !== undefined && !this.#holds(named, parent)) tree.rename(from.parent, from.name, parent, name);
		} else if (named !== undefined && kind === 'chmod') {
			tree.setInode(named, { ...view.inode(named), mode: 0o700 + value });
		} else if (file !== undefined) {
			if (kind === 'link' && !this.#holds(view.lookup(parent, name), file)) tree.link(parent, name, file);
			if (kind === 'overwrite') tree.write(file, where * 40, Buffer.from(`over ${value % 3}`));
			if (kind === 'truncate') tree.truncate(file, where * 30);
		}
	}

	/** Whether `inner` is `outer` or lies in it: such a thing cannot be moved there, nor replace it. */
	#holds(outer: number | null | undefined, inner: number): boolean {
		if (outer === null || outer === undefined || outer === 0) return false;
		const view = this.store.tree.at('now');
		return inner === outer || [...view.walk(outer)].some(({ ino }) => ino === inner);
	}
}

it('keeps every snapshot exact through writes, restores, applies, seals, gc, collection in steps and repairs in any order', () => {
	fc.assert(
		fc.property(fc.array(step, { minLength: 10, maxLength: 120, size: 'max' }), (steps) => {
			using history = new History();
			for (const next of steps) {
				history.play(next);
				if (next.what !== 'write' && next.what !== 'snapshot') history.check();
			}
			history.check();
			const drop = [...history.shown.keys()];
			history.play({ what: 'seal' });
			history.play({ what: 'gc', drop });
			history.check();
			expect(checkIntegrity(history.store).checks.filter(({ found }) => found > 0)).toEqual([]);
		}),
		{ numRuns: 12 },
	);
});
