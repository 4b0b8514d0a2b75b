import { expect } from 'vitest';
import type { Change } from '../../src/base/change.ts';
import { collectGarbage } from '../../src/store/gc.ts';
import type { Store } from '../../src/store/store.ts';
import { dumpView, TreeModel } from './tree-model.ts';
import { playTreeStep, type TreeStep } from './tree-steps.ts';

/** What one step of a history may be. */
export type HistoryStep =
	| { readonly kind: 'tree'; readonly step: TreeStep; readonly home: boolean }
	| {
			readonly kind: 'snapshot' | 'seal' | 'restore' | 'restoreProject' | 'apply' | 'fork' | 'gc';
			/** Numbers that snapshots are chosen by. */
			readonly a: number;
			readonly b: number;
	  };

interface Trees {
	readonly project: TreeModel;
	readonly home: TreeModel;
}

/** A store with two trees beside its model, and the model of every snapshot that was taken. */
export class TreeHistory {
	readonly store: Store;
	readonly project: number;
	readonly home: number;
	readonly snapshots = new Map<number, Trees>();
	present: Trees;
	/** Whether the present is some snapshot's state. */
	saved = false;

	constructor(store: Store) {
		this.store = store;
		[this.project, this.home] = store.write(() => [
			store.tree.addRoot('project', '/base').ino,
			store.tree.addRoot('home', null).ino,
		]) as [number, number];
		const rootOf = (ino: number) =>
			new TreeModel({ inode: withoutLinks(store, ino), data: Buffer.alloc(0), children: new Map() });
		this.present = { project: rootOf(this.project), home: rootOf(this.home) };
		this.snapshot();
	}

	play(step: HistoryStep): void {
		const ids = [...this.snapshots.keys()];
		if (step.kind === 'tree') this.playTree(step.step, step.home);
		else if (step.kind === 'snapshot') this.snapshot();
		else if (step.kind === 'seal') this.store.tree.seal();
		else {
			const [a, b] = [ids[step.a % ids.length], ids[step.b % ids.length]] as [number, number];
			if (step.kind === 'restore') this.restore(a, true);
			else if (step.kind === 'restoreProject') this.restore(a, false);
			else if (step.kind === 'apply') this.applyDifference(a, b);
			else if (step.kind === 'fork') this.checkChanges(a, b);
			else this.collect(a, b);
		}
	}

	playTree(step: TreeStep, home: boolean): void {
		const [root, model] = home ? [this.home, this.present.home] : [this.project, this.present.project];
		this.store.write(() => playTreeStep(this.store, root, model, step));
		this.saved = false;
	}

	snapshot(): number {
		const { store } = this;
		const number = store.write(() => store.tree.snapshot({ trigger: 'manual', created: { sec: 1, nsec: 2 } }));
		this.snapshots.set(number, copyOf(this.present));
		this.saved = true;
		return number;
	}

	restore(target: number, all: boolean): void {
		if (!this.saved) this.snapshot();
		this.store.write(() => this.store.tree.restore(target, all ? [this.project, this.home] : [this.project]));
		const { project, home } = copyOf(this.snapshots.get(target) as Trees);
		this.present = { project, home: all ? home : this.present.home };
		this.saved = all;
		this.checkPresent();
	}

	/** Goes to `a`, then by a list of changes to `b`; doing it once more changes nothing that can be seen. */
	applyDifference(a: number, b: number): void {
		const { store, project } = this;
		this.restore(a, true);
		const changes = store.tree.changes(a, b, project);
		store.write(() => store.tree.apply(project, shuffled(changes, a + b)));
		this.present = { ...this.present, project: copyOf(this.snapshots.get(b) as Trees).project };
		if (changes.length > 0) this.saved = false;
		this.checkPresent();
		// Exchanged names would be exchanged once more, and then get the attributes of the other: equal, but written.
		const again = store.write(() => store.tree.apply(project, changes));
		if (changes.every(({ from }) => from === null)) expect(again).toEqual({ entries: 0, inodes: 0 });
		this.checkPresent();
		this.checkChanges(a, b);
	}

	/** Every path that differs is in the list, and nothing else but names of linked files. */
	checkChanges(a: number, b: number): void {
		const changes = this.store.tree.changes(a, b, this.project);
		const [before, after] = [a, b].map((id) => (this.snapshots.get(id) as Trees).project.dump()) as [Dump, Dump];
		const paths = new Set([...before.keys(), ...after.keys()]);
		const listed = new Set(changes.map(({ path }) => path));
		const differing = [...paths].filter((path) => describedValue(before.get(path)) !== describedValue(after.get(path)));
		expect(differing.filter((path) => !listed.has(path))).toEqual([]);
		const linked = (path: string) => [before, after].some((dump) => linksOf(dump.get(path)).length > 0);
		expect([...listed].filter((path) => !differing.includes(path) && !linked(path))).toEqual([]);
		expect(changes.map(({ path }) => path)).toEqual([...listed].sort((x, y) => (x < y ? -1 : 1)));
		checkForm(changes, before);
	}

	collect(a: number, b: number): void {
		const { position } = this.store.head.values();
		const drop = [...this.snapshots.keys()].filter((id) => id !== position && (id + a) % (2 + (b % 3)) === 0);
		collectGarbage(this.store, { drop });
		for (const id of drop) this.snapshots.delete(id);
	}

	checkPresent(): void {
		this.#check('now', this.present);
		const totals = [this.present.project.totals(), this.present.home.totals()];
		const { files, bytes } = this.store.head.values();
		expect({ files, bytes }).toEqual({
			files: totals.reduce((sum, each) => sum + each.files, 0),
			bytes: totals.reduce((sum, each) => sum + each.bytes, 0),
		});
	}

	/** The present and every snapshot read as the model says. */
	checkAll(): void {
		this.checkPresent();
		for (const [id, trees] of this.snapshots) this.#check(id, trees);
	}

	#check(ref: number | 'now', { project, home }: Trees): void {
		const view = this.store.tree.at(ref);
		expect(dumpView(view, this.project), `project at ${ref}`).toEqual(project.dump());
		expect(dumpView(view, this.home), `home at ${ref}`).toEqual(home.dump());
	}
}

type Dump = Map<string, string>;

function withoutLinks(store: Store, ino: number) {
	const { nlink: _, ...inode } = store.tree.at('now').inode(ino);
	return inode;
}

function copyOf({ project, home }: Trees): Trees {
	return { project: project.clone(), home: home.clone() };
}

/** Lists are worked off whatever their order. */
function shuffled(changes: readonly Change[], seed: number): Change[] {
	const rank = (change: Change) =>
		([...change.path].reduce((sum, c) => sum * 31 + c.charCodeAt(0), seed) * 7919) % 1009;
	return [...changes].sort((x, y) => rank(x) - rank(y));
}

function describedValue(description: string | undefined): string | undefined {
	if (description === undefined || description === 'whiteout') return description;
	return JSON.stringify(JSON.parse(description).slice(0, 3));
}

function linksOf(description: string | undefined): string[] {
	return description === undefined || description === 'whiteout' ? [] : JSON.parse(description)[3];
}

/** What makers of changes promise: base/change.ts. */
function checkForm(changes: readonly Change[], before: Dump): void {
	const withContent = new Set<string>();
	for (const { path, link, content, after, from, before: old } of changes) {
		expect(old === null, path).toBe(!before.has(path));
		if (after?.kind === 'file' && old?.kind !== 'file' && link === null) expect(content, path).not.toBeNull();
		if (link !== null && after?.kind === 'file') {
			if (!withContent.has(link)) expect(content, path).not.toBeNull();
			withContent.add(link);
		}
		if (from !== null) {
			const left = changes.find((change) => change.path === from);
			expect(left, `${path} from ${from}`).toBeDefined();
		}
	}
}
