/** A session over a real directory without a sandbox: the layer's rows are written straight into the store. */
import { lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getegid, geteuid } from 'node:process';
import { type ApplyPlan, type ApplyRequest, planApply } from '../../src/apply/plan-apply.ts';
import type { HostedRoot } from '../../src/apply/starting-points.ts';
import { writeApply } from '../../src/apply/write-host.ts';
import type { Change } from '../../src/base/change.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { WHITEOUT } from '../../src/base/inode.ts';
import { joinPath } from '../../src/base/paths.ts';
import { diffViews } from '../../src/history/diff.ts';
import { HostTree } from '../../src/host/host-tree.ts';
import { readInode } from '../../src/host/read-inode.ts';
import { findOrigin, Origins } from '../../src/store/origins.ts';
import type { Root } from '../../src/store/roots.ts';
import { Store } from '../../src/store/store.ts';
import { type LayerReader, MergedView } from '../../src/vfs/merged-view.ts';
import { contentOf, type MemoryTree } from './memory-trees.ts';

export class ApplyRig implements Disposable {
	readonly place: string;
	readonly base: string;
	readonly clock: Clock = systemClock;
	store: Store;
	root: Root;
	host: HostTree;

	/** Opens the rig of another process, or makes a new one with this tree as its base. */
	constructor(tree: MemoryTree | { readonly opened: string }) {
		const isOpened = typeof tree['opened'] === 'string';
		this.place = isOpened ? String(tree['opened']) : mkdtempSync(join(tmpdir(), 'dropcloth-apply-'));
		this.base = join(this.place, 'base');
		const session = join(this.place, 'session.db');
		if (!isOpened) {
			mkdirSync(this.base);
			layOut(this.base, tree as MemoryTree);
			this.store = Store.create(session);
			this.store.write(() => {
				this.store.tree.addRoot('project', this.base, { ...readInode(this.base), opaque: false });
				this.store.tree.snapshot({ trigger: 'start', created: this.clock.now() });
			});
		} else this.store = Store.open(session, 'tree');
		const root = this.store.tree.root('project');
		if (root === null) throw new Error('the rig has no project');
		this.root = root;
		this.host = HostTree.open(this.base, 'rw');
	}

	get hosted(): HostedRoot[] {
		return [{ root: this.root, host: this.host }];
	}

	/** What a run would have done: the layer becomes this, origins are recorded, and a snapshot is taken. */
	run(layer: MemoryTree): number {
		const view = this.store.tree.at('now');
		const gone = [...new MergedView(view, this.root.ino, null).layerPaths()]
			.filter((path) => layer[path] === undefined)
			.map((path) => ({ path, before: null, after: null, content: null, link: null, from: null }));
		const rows = layerChanges(layer);
		const origins = new Origins(this.store);
		const snapshot = this.store.write(() => {
			for (const { path, after } of rows) {
				const hides = after?.kind !== 'directory' || after.opaque;
				for (const touched of [path, ...(hides ? this.#hostBelow(path) : [])]) {
					const inode = this.host.stat(touched);
					const content = inode?.kind === 'file' ? this.host.content(touched) : null;
					origins.firstTouch(this.root.ino, findOrigin(touched, inode, content, true));
				}
			}
			this.store.tree.apply(this.root.ino, [...gone, ...rows]);
			return this.store.tree.snapshot({ trigger: 'exit', created: this.clock.now() });
		});
		this.#waitForTick();
		return snapshot;
	}

	/** A run takes longer than a tick of the clock that stamps files; what is edited after this is stamped later than the run. */
	#waitForTick(): void {
		const scratch = join(this.place, 'scratch');
		const ended = BigInt(Date.now() + 2) * 1_000_000n;
		do writeFileSync(scratch, '');
		while (lstatSync(scratch, { bigint: true }).ctimeNs < ended);
		rmSync(scratch);
	}

	plan(request: Partial<ApplyRequest> = {}): ApplyPlan {
		const snapshot = this.store.head.values().position;
		return planApply(this.store, this.hosted, { snapshot, now: this.clock.now(), ...request });
	}

	apply(request: Partial<ApplyRequest> = {}): void {
		writeApply(this.store, this.plan(request), { clock: this.clock });
	}

	/** What a reader of the session sees: at a snapshot, or now. */
	view(at: number | 'now' | 'base' = 'now'): MergedView {
		const layer: LayerReader | null = at === 'base' ? null : this.store.tree.at(at);
		return new MergedView(layer, this.root.ino, this.host);
	}

	/** Paths that differ between the host and the session now. */
	diff(): string[] {
		const to = this.view();
		return diffViews(this.view('base'), to, to.layerPaths()).map(({ change, path }) => `${change} ${path}`);
	}

	/** Changes the host as its user would. */
	edit(tree: MemoryTree): void {
		layOut(this.base, tree);
	}

	#hostBelow(path: string): string[] {
		const base = this.view('base');
		return base.stat(path)?.kind === 'directory' ? [...base.below(path)] : [];
	}

	close(): void {
		this.host.close();
		this.store.close();
	}

	[Symbol.dispose](): void {
		this.close();
		rmSync(this.place, { recursive: true, force: true });
	}
}

/** Every path that a view shows with all that a reader can tell: what two states are compared by. */
export function describeView(view: MergedView): Record<string, string> {
	const lines: Record<string, string> = {};
	for (const path of view.below('')) {
		const inode = view.stat(path);
		if (inode === null) throw new Error(`${path} is listed but not there`);
		const { kind, mode, mtime, target } = inode;
		const text =
			kind === 'file' ? [...view.content(path).pieces()].map(({ data }) => data.toString('latin1')).join('') : '';
		const times = kind === 'directory' ? '' : ` ${mtime.sec}.${mtime.nsec}`;
		lines[path] = `${kind} ${mode.toString(8)}${times} ${target ?? ''}${text}`;
	}
	return lines;
}

/** The changes that make a layer of its rows. */
export function layerChanges(layer: MemoryTree): Change[] {
	const rows = Object.entries(layer);
	return rows.map(([path, node]) => {
		if (node === 'whiteout') return change(path, WHITEOUT, null, null);
		const content = node.inode.kind === 'file' ? contentOf(node.data) : null;
		const first = rows.find(([, other]) => other === node)?.[0];
		const isLinked = rows.filter(([, other]) => other === node).length > 1;
		return change(path, { ...node.inode, ...owner() }, content, isLinked ? `link ${first}` : null);
	});
}

function change(path: string, after: Change['after'], content: Change['content'], link: string | null): Change {
	return { path, before: null, after, content, link, from: null };
}

function owner(): { uid: number; gid: number } {
	return { uid: geteuid?.() ?? 0, gid: getegid?.() ?? 0 };
}

/** Writes a tree into a directory; 'whiteout' removes the path with all that it holds. */
function layOut(target: string, tree: MemoryTree): void {
	for (const [path, node] of Object.entries(tree)) {
		if (node === 'whiteout' || node.inode.kind !== 'directory')
			rmSync(joinPath(target, path), { recursive: true, force: true });
	}
	const host = HostTree.open(target, 'rw');
	try {
		host.apply(
			layerChanges(tree).filter(({ after }) => after?.kind !== 'whiteout'),
			{ durable: false, owner: 'possible' },
		);
	} finally {
		host.close();
	}
}
