import { joinPath } from '../base/paths.ts';
import { nameOfRaw, type ScanMemory } from './scan-memory.ts';
import * as record from './scan-record.ts';
import type { Gone, Walked } from './upper-walk.ts';

/** What a walk found, seen with renames in mind. */
export interface Renames {
	/** The path that an inode had, by the number of its new record: of what was renamed and of what is below that. */
	readonly from: ReadonlyMap<number, string>;
	/** New records below a renamed directory that are as they were below its old path. */
	readonly unchanged: ReadonlySet<number>;
	/** Further names that are gone: what a renamed directory held before, by the path that it would have now. */
	readonly gone: readonly Gone[];
}

/** A name that is gone, or below one that is. */
interface Removed extends Gone {
	readonly parent: Removed | null;
	isMoved: boolean;
	/** Something below it was moved elsewhere. */
	hasMovedChild: boolean;
}

/**
 * Finds out which new names are old ones moved, by inode number and time of birth. Only what is plain is taken for a
 * rename: from a path that is gone to a path that is new, neither below another rename; the rest stays removed and added,
 * which comes to the same and only costs reading the content again.
 */
export function findRenames(old: ScanMemory | null, walked: Walked): Renames {
	const isPossible = old !== null && walked.gone.length > 0 && walked.touched.some(({ oldIndex }) => oldIndex < 0);
	if (!isPossible) return { from: new Map(), unchanged: new Set(), gone: [] };
	return new RenameFinder(old, walked).find();
}

class RenameFinder {
	readonly #old: ScanMemory;
	readonly #new: ScanMemory;
	readonly #walked: Walked;
	readonly #removed = new Map<bigint, Removed>();
	readonly #from = new Map<number, string>();
	readonly #unchanged = new Set<number>();
	readonly #gone: Gone[] = [];
	/** New records below a renamed directory. */
	readonly #settled = new Set<number>();

	constructor(old: ScanMemory, walked: Walked) {
		this.#old = old;
		this.#new = walked.memory;
		this.#walked = walked;
	}

	find(): Renames {
		for (const { oldIndex, path } of this.#walked.gone) this.#collectRemoved(oldIndex, path);
		for (const { index, oldIndex, path } of this.#walked.touched) {
			if (oldIndex >= 0 || this.#settled.has(index)) continue;
			const source = this.#removed.get(record.recordIno(this.#new.records, index * record.RECORD_WORDS));
			if (source === undefined || !this.#isRename(index, source)) continue;
			this.#move(source);
			this.#from.set(index, source.path);
			if (this.#isDirectory(this.#new, index)) this.#compareBelow(index, source, path);
		}
		return { from: this.#from, unchanged: this.#unchanged, gone: this.#gone };
	}

	#collectRemoved(root: number, rootPath: string): void {
		const open: Removed[] = [{ oldIndex: root, path: rootPath, parent: null, isMoved: false, hasMovedChild: false }];
		for (let next = open.pop(); next !== undefined; next = open.pop()) {
			const { oldIndex, path } = next;
			this.#removed.set(record.recordIno(this.#old.records, oldIndex * record.RECORD_WORDS), next);
			const [first, end] = record.childRange(this.#old.records, oldIndex);
			for (let child = first; child < end; child++) {
				const childPath = joinPath(path, nameOfRaw(this.#old.rawName(child)));
				open.push({ oldIndex: child, path: childPath, parent: next, isMoved: false, hasMovedChild: false });
			}
		}
	}

	#isRename(index: number, source: Removed): boolean {
		const [newAt, oldAt] = [index * record.RECORD_WORDS, source.oldIndex * record.RECORD_WORDS];
		if (!record.sameIdentity(this.#new.records, newAt, this.#old.records, oldAt)) return false;
		if (source.isMoved || source.hasMovedChild) return false;
		for (let above = source.parent; above !== null; above = above.parent) if (above.isMoved) return false;
		const isDirectory = this.#isDirectory(this.#new, index);
		if (isDirectory !== this.#isDirectory(this.#old, source.oldIndex)) return false;
		const isLinked =
			record.recordLinks(this.#new.records, newAt) > 1 || record.recordLinks(this.#old.records, oldAt) > 1;
		return isDirectory || !isLinked;
	}

	#move(source: Removed): void {
		source.isMoved = true;
		for (let above = source.parent; above !== null; above = above.parent) above.hasMovedChild = true;
	}

	/** Compares what a renamed directory holds with what it held. */
	#compareBelow(renamed: number, source: Removed, newPath: string): void {
		const open = [{ directory: renamed, oldDirectory: source.oldIndex, path: newPath, oldPath: source.path }];
		for (let next = open.pop(); next !== undefined; next = open.pop()) {
			const [first, end] = record.childRange(this.#new.records, next.directory);
			for (let child = first; child < end; child++) {
				const raw = this.#new.rawName(child);
				const oldChild = next.oldDirectory < 0 ? -1 : this.#old.child(next.oldDirectory, raw);
				const name = nameOfRaw(raw);
				const oldPath = joinPath(next.oldPath, name);
				this.#settled.add(child);
				if (oldChild >= 0) this.#from.set(child, oldPath);
				if (oldChild >= 0 && this.#isUnchanged(child, oldChild)) this.#unchanged.add(child);
				if (!this.#isDirectory(this.#new, child)) continue;
				const known = oldChild >= 0 && this.#isDirectory(this.#old, oldChild) ? oldChild : -1;
				open.push({ directory: child, oldDirectory: known, path: joinPath(next.path, name), oldPath });
			}
			if (next.oldDirectory >= 0) this.#findGoneBelow(next.directory, next.oldDirectory, next.path);
		}
	}

	#findGoneBelow(directory: number, oldDirectory: number, path: string): void {
		const [first, end] = record.childRange(this.#old.records, oldDirectory);
		for (let child = first; child < end; child++) {
			const raw = this.#old.rawName(child);
			if (this.#new.child(directory, raw) >= 0) continue;
			this.#gone.push({ oldIndex: child, path: joinPath(path, nameOfRaw(raw)) });
		}
	}

	#isUnchanged(index: number, oldIndex: number): boolean {
		const [newAt, oldAt] = [index * record.RECORD_WORDS, oldIndex * record.RECORD_WORDS];
		const flags = this.#old.records[oldAt + record.FLAGS] as number;
		const newFlags = this.#new.records[newAt + record.FLAGS] as number;
		if ((flags & newFlags & record.FLAG_WHITEOUT) !== 0) return true;
		if ((flags & record.FLAG_REREAD) !== 0) return false;
		return record.sameStat(this.#new.records, newAt, this.#old.records, oldAt);
	}

	#isDirectory(memory: ScanMemory, index: number): boolean {
		return record.isDirectoryRecord(memory.records, index * record.RECORD_WORDS);
	}
}
