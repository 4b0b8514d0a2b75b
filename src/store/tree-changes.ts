import type { Change, Content } from '../base/change.ts';
import { type Inode, sameInode, WHITEOUT } from '../base/inode.ts';
import { joinPath } from '../base/paths.ts';
import { type ChangeCandidates, changeCandidates } from './change-candidates.ts';
import { ComparedState } from './compared-state.ts';
import { fromSqlName } from './sql-name.ts';
import { sameContent } from './stored-content.ts';
import type { TreeParts } from './tree-parts.ts';
import type { TreeRef } from './tree-rows.ts';

/**
 * What must change to get from state `a` to state `b` of one tree: every path that differs, sorted, parents first. atime
 * and ctime alone make no difference.
 *
 * The list is flat: a directory that was renamed, removed or made is followed by all that it holds, so that it can be
 * worked off by somebody who knows nothing of inodes; `from` says what a path was called before. Contents are read from
 * the store when they are asked for.
 */
export function compareStates(parts: TreeParts, a: TreeRef, b: TreeRef, root: number): Change[] {
	const [numberA, numberB] = [a, b].map((ref) => (ref === 'now' ? parts.head.values().head : ref)) as [number, number];
	if (numberA === numberB) return [];
	return new Comparison(
		parts,
		new ComparedState(parts, numberA, root),
		new ComparedState(parts, numberB, root),
		root,
	).run();
}

const NOTHING_TOUCHED: ChangeCandidates = {
	entries: [],
	lowRows: [],
	highRows: [],
	contents: new Set(),
	xattrs: new Set(),
};

class Comparison {
	readonly #parts: TreeParts;
	readonly #a: ComparedState;
	readonly #b: ComparedState;
	readonly #root: number;
	/** What paths that may differ stand for in each state; one that is missing stands for nothing there. */
	readonly #atA = new Map<string, number>();
	readonly #atB = new Map<string, number>();
	readonly #modified = new Map<number, boolean>();
	/** For inodes that are in both states. */
	readonly #sameBytes = new Map<number, boolean>();
	#touched: ChangeCandidates = NOTHING_TOUCHED;
	readonly #changes = new Map<string, Change>();

	constructor(parts: TreeParts, a: ComparedState, b: ComparedState, root: number) {
		this.#parts = parts;
		this.#root = root;
		this.#a = a;
		this.#b = b;
	}

	run(): Change[] {
		const [low, high] = this.#a.number < this.#b.number ? [this.#a, this.#b] : [this.#b, this.#a];
		this.#touched = changeCandidates(this.#parts.db, low.number, high.number);
		const { entries, lowRows, highRows, contents, xattrs } = this.#touched;
		for (const row of lowRows) low.take(row);
		for (const row of highRows) high.take(row);
		this.#b.takeNames(this.#a, new Set(entries.map(([, , ino]) => ino)));
		for (const [parent, sqlName] of entries) {
			const [before, after] = [this.#a.rows.entry(parent, sqlName), this.#b.rows.entry(parent, sqlName)];
			if (before === after) continue;
			const name = fromSqlName(sqlName);
			if (before !== null) expand(this.#a, this.#a.pathOf(parent), name, before, this.#atA);
			if (after !== null) expand(this.#b, this.#b.pathOf(parent), name, after, this.#atB);
		}
		// A root that was made in between has no entry that would tell; one that vanishes is no change to work off.
		if (this.#a.inode(this.#root) === null && this.#b.inode(this.#root) !== null) this.#atB.set('', this.#root);
		const rows = [...lowRows, ...highRows].map(([ino]) => ino);
		for (const ino of new Set([...rows, ...contents, ...xattrs])) if (this.#isModified(ino)) this.#addNames(ino);
		for (const path of new Set([...this.#atA.keys(), ...this.#atB.keys()])) this.#compare(path);
		return this.#sorted();
	}

	#addNames(ino: number): void {
		for (const path of this.#a.pathsOf(ino)) this.#atA.set(path, ino);
		for (const path of this.#b.pathsOf(ino)) this.#atB.set(path, ino);
	}

	#compare(path: string): void {
		const [before, after] = [this.#atA.get(path) ?? null, this.#atB.get(path) ?? null];
		if (!this.#differs(before, after)) return;
		if (after === null || after === 0 || this.#b.links(after) < 2) this.#add(path, before, after);
		else for (const name of this.#b.pathsOf(after)) this.#add(name, this.#inoAtA(name, after), after);
	}

	#differs(before: number | null, after: number | null): boolean {
		if (before === after) return before !== null && before !== 0 && this.#isModified(before);
		if (before === null || after === null || before === 0 || after === 0) return true;
		// Another inode of the same path: the same to a reader, unless names are shared.
		if (this.#a.links(before) > 1 || this.#b.links(after) > 1) return true;
		return !this.#sameNode(before, after);
	}

	/** Whether an inode that exists in both states differs between them. */
	#isModified(ino: number): boolean {
		let modified = this.#modified.get(ino);
		if (modified === undefined) {
			modified = this.#a.inode(ino) !== null && this.#b.inode(ino) !== null && !this.#sameNode(ino, ino);
			this.#modified.set(ino, modified);
		}
		return modified;
	}

	#sameNode(before: number, after: number): boolean {
		const [a, b] = [this.#a.inode(before) as Inode, this.#b.inode(after) as Inode];
		return sameInode(a, b) && this.#sameContent(before, after);
	}

	#sameContent(before: number, after: number): boolean {
		const [a, b] = [this.#a.inode(before) as Inode, this.#b.inode(after) as Inode];
		if (a.kind !== 'file' || b.kind !== 'file') return true;
		if (a.size !== b.size) return false;
		if (before !== after) return sameContent(this.#parts.blobs, this.#a.content(before), this.#b.content(after));
		if (!this.#touched.contents.has(after)) return true;
		let same = this.#sameBytes.get(after);
		if (same === undefined) {
			same = sameContent(this.#parts.blobs, this.#a.content(after), this.#b.content(after));
			this.#sameBytes.set(after, same);
		}
		return same;
	}

	/** A name of a linked inode that no candidate mentioned stands for the same in both states. */
	#inoAtA(path: string, after: number): number | null {
		return this.#atA.get(path) ?? (this.#atB.has(path) ? null : after);
	}

	#add(path: string, before: number | null, after: number | null): void {
		const linked = after !== null && after !== 0 && this.#b.links(after) > 1;
		this.#changes.set(path, {
			path,
			before: nodeOf(this.#a, before),
			after: nodeOf(this.#b, after),
			content: linked ? null : this.#contentFor(before, after),
			link: linked ? String(after) : null,
			from: this.#formerPath(path, after),
		});
	}

	/** Null when the bytes stay and the inode too, or has no other names: a file that leaves its links gets its own. */
	#contentFor(before: number | null, after: number | null): Content | null {
		if (after === null || after === 0 || this.#b.inode(after)?.kind !== 'file') return null;
		const stays =
			before !== null &&
			before !== 0 &&
			(before === after || this.#a.links(before) === 1) &&
			this.#a.inode(before)?.kind === 'file' &&
			this.#sameContent(before, after);
		return stays ? null : this.#b.content(after);
	}

	#formerPath(path: string, after: number | null): string | null {
		if (after === null || after === 0 || this.#a.inode(after) === null) return null;
		if (this.#a.links(after) > 1 || this.#b.links(after) > 1) return null;
		const former = this.#a.pathsOf(after)[0];
		return former === undefined || former === path ? null : former;
	}

	/** Sorted by path. The first name of each linked file brings the content. */
	#sorted(): Change[] {
		const changes = [...this.#changes.values()].sort((x, y) => (x.path < y.path ? -1 : 1));
		const seen = new Set<string>();
		return changes.map((change) => {
			// Where an equal file took the place of the one that was renamed, nothing is removed: it reads like a copy.
			const from = change.from !== null && this.#changes.has(change.from) ? change.from : null;
			if (change.link === null || change.after?.kind !== 'file' || seen.has(change.link)) return { ...change, from };
			seen.add(change.link);
			return { ...change, from, content: this.#b.content(Number(change.link)) };
		});
	}
}

function nodeOf(state: ComparedState, ino: number | null): Inode | null {
	return ino === null ? null : ino === 0 ? WHITEOUT : state.inode(ino);
}

/** Notes what an entry and everything beneath it stand for. */
function expand(
	state: ComparedState,
	directory: string | null,
	name: string,
	ino: number,
	into: Map<string, number>,
): void {
	if (directory === null) return;
	const pending: [path: string, ino: number][] = [[joinPath(directory, name), ino]];
	for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
		const [path, at] = next;
		// What was noted before was noted with all that it holds.
		if (into.has(path)) continue;
		into.set(path, at);
		if (at === 0 || state.inode(at)?.kind !== 'directory') continue;
		for (const [child, childIno] of state.view.children(at)) pending.push([joinPath(path, child), childIno]);
	}
}
