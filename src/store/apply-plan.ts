import type { Change } from '../base/change.ts';
import { type Inode, type Kind, kindOfMode } from '../base/inode.ts';
import { baseName, parentPath } from '../base/paths.ts';
import { PosixError } from '../base/posix-error.ts';
import type { InodeRow } from './inode-row.ts';
import { type SqlName, toEntryName } from './sql-name.ts';
import type { TreeWrite } from './tree-write.ts';

/** One inode as it is to be after the changes, with all of them that name it. */
export interface PlannedInode {
	readonly ino: number;
	/** Its row before; null for a new one. */
	readonly row: InodeRow | null;
	readonly after: Inode;
	readonly changes: readonly Change[];
	/** For a new file whose changes bring no content: the inode that had the content until now. */
	readonly contentOf: number | null;
}

/** One name as it was and as it is to be: an inode number, 0 for a whiteout, null for nothing. */
export interface PlannedEntry {
	readonly parent: number;
	readonly name: SqlName;
	readonly before: number | null;
	readonly after: number | null;
}

/** What the changes come to. Made from the state before, which must not be written meanwhile. */
export interface ApplyPlan {
	readonly inodes: readonly PlannedInode[];
	readonly entries: readonly PlannedEntry[];
}

/**
 * Finds out which inode each changed path is to name. An inode keeps its number when it was renamed (`from`), or when its
 * path stays and its kind too; one that has further names which the changes do not mention is left to them.
 *
 * The order of the changes does not matter. Throws PosixError ENOENT or ENOTDIR when the directory of a path is missing.
 */
export function planApply(
	write: TreeWrite,
	root: number,
	changes: readonly Change[],
	takeIno: () => number,
): ApplyPlan {
	return new Planner(write, root, changes).plan(takeIno);
}

/** The changes that are to name one inode, while it is found. */
interface Draft {
	readonly changes: Change[];
	readonly kind: Kind;
	ino: number | null;
}

class Planner {
	readonly #write: TreeWrite;
	readonly #changes: readonly Change[];
	readonly #byPath = new Map<string, Change>();
	readonly #drafts: Draft[] = [];
	readonly #before = new Map<string, number | null>();
	readonly #after = new Map<string, number | null>();
	readonly #newInodes = new Map<number, Kind>();
	readonly #claimed = new Set<number>();
	readonly #rows = new Map<number, InodeRow>();
	/** Directories that paths go into and that are known to be such. */
	readonly #directories = new Set<number>();
	#keysBefore: Set<string> | null = null;

	constructor(write: TreeWrite, root: number, changes: readonly Change[]) {
		this.#write = write;
		this.#changes = changes;
		this.#before.set('', root);
		this.#after.set('', root);
		for (const change of changes) {
			if (this.#byPath.has(change.path)) throw new Error(`two changes of one path: ${change.path}`);
			this.#byPath.set(change.path, change);
		}
	}

	plan(takeIno: () => number): ApplyPlan {
		this.#draftInodes();
		const inodes = this.#drafts.map((draft) => this.#planInode(draft, takeIno));
		return { inodes, entries: this.#planEntries() };
	}

	/** Renames claim their inode first, then the paths that stay; what is left over is new. */
	#draftInodes(): void {
		const linked = new Map<string, Draft>();
		for (const change of this.#changes) {
			const { after, link } = change;
			if (after === null || after.kind === 'whiteout') continue;
			const known = link === null ? undefined : linked.get(link);
			if (known !== undefined) {
				if (known.kind === 'directory') throw new PosixError('EPERM', 'link', change.path);
				known.changes.push(change);
				continue;
			}
			const draft: Draft = { changes: [change], kind: after.kind, ino: null };
			this.#drafts.push(draft);
			if (link !== null) linked.set(link, draft);
		}
		for (const draft of this.#drafts) {
			for (const { from } of draft.changes) if (from !== null && this.#byPath.has(from)) this.#claim(draft, from);
		}
		for (const draft of this.#drafts) for (const { path } of draft.changes) this.#claim(draft, path);
	}

	#claim(draft: Draft, path: string): void {
		if (draft.ino !== null) return;
		const ino = this.#inoBefore(path);
		if (ino === null || ino === 0 || this.#claimed.has(ino)) return;
		const row = this.#row(ino, path);
		if (kindOfMode(row[3]) !== draft.kind || (row[4] > 1 && this.#hasUnmentionedName(ino))) return;
		this.#claimed.add(ino);
		draft.ino = ino;
	}

	#planInode({ changes, ino, kind }: Draft, takeIno: () => number): PlannedInode {
		const [first] = changes as [Change, ...Change[]];
		const after = first.after as Inode;
		const row = ino === null ? null : this.#row(ino, first.path);
		const number = ino ?? takeIno();
		if (row === null) this.#newInodes.set(number, kind);
		for (const { path } of changes) this.#after.set(path, number);
		return { ino: number, row, after, changes, contentOf: row === null ? this.#contentSource(changes) : null };
	}

	/** Content that is "the same as before" is that of the inode which the path, or the path it came from, had. */
	#contentSource(changes: readonly Change[]): number | null {
		for (const { from, path } of changes) {
			const ino = this.#inoBefore(from ?? path);
			if (ino === null || ino === 0) continue;
			if (kindOfMode(this.#row(ino, path)[3]) === 'file') return ino;
		}
		return null;
	}

	#planEntries(): PlannedEntry[] {
		const wanted = new Map<string, PlannedEntry>();
		const gone: { parent: number; name: SqlName }[] = [];
		for (const { path, after } of this.#changes) {
			if (path === '') {
				if (after?.kind !== 'directory') throw new Error('the root of a tree must stay a directory');
				continue;
			}
			const name = toEntryName(baseName(path));
			const parentBefore = this.#inoBefore(parentPath(path));
			if (parentBefore !== null && parentBefore !== 0) gone.push({ parent: parentBefore, name });
			const parent = this.#inoAfter(parentPath(path));
			if (after === null) {
				if (parent !== null && parent !== 0) gone.push({ parent, name });
				continue;
			}
			this.#checkDirectory(parent, path);
			const before = parent === parentBefore ? this.#inoBefore(path) : this.#entry(parent, name);
			const ino = after.kind === 'whiteout' ? 0 : (this.#after.get(path) as number);
			wanted.set(keyOf(parent, name), { parent, name, before, after: ino });
		}
		for (const { parent, name } of gone) {
			const key = keyOf(parent, name);
			if (wanted.has(key)) continue;
			wanted.set(key, { parent, name, before: this.#entry(parent, name), after: null });
		}
		return [...wanted.values()].filter(({ before, after }) => before !== after);
	}

	#inoBefore(path: string): number | null {
		const known = this.#before.get(path);
		if (known !== undefined) return known;
		const parent = this.#inoBefore(parentPath(path));
		const ino = parent === null || parent === 0 ? null : this.#write.rows.entry(parent, toEntryName(baseName(path)));
		this.#before.set(path, ino);
		return ino;
	}

	#inoAfter(path: string): number | null {
		const known = this.#after.get(path);
		if (known !== undefined) return known;
		const ino = this.#findAfter(path);
		this.#after.set(path, ino);
		return ino;
	}

	/** A path that no change mentions keeps its entry, wherever its directory went. */
	#findAfter(path: string): number | null {
		const change = this.#byPath.get(path);
		if (change !== undefined) return change.after === null ? null : 0;
		const parent = this.#inoAfter(parentPath(path));
		if (parent === null || parent === 0) return null;
		const name = toEntryName(baseName(path));
		return this.#mentionedBefore(parent, name) ? null : this.#entry(parent, name);
	}

	#checkDirectory(parent: number | null, path: string): asserts parent is number {
		if (parent === null || parent === 0) throw new PosixError('ENOENT', 'apply', path);
		if (this.#directories.has(parent)) return;
		const kind = this.#newInodes.get(parent) ?? kindOfMode(this.#row(parent, path)[3]);
		if (kind !== 'directory') throw new PosixError('ENOTDIR', 'apply', path);
		this.#directories.add(parent);
	}

	#entry(parent: number, name: SqlName): number | null {
		return this.#newInodes.has(parent) ? null : this.#write.rows.entry(parent, name);
	}

	#row(ino: number, path: string): InodeRow {
		const known = this.#rows.get(ino) ?? this.#write.row(ino, 'apply', path);
		this.#rows.set(ino, known);
		return known;
	}

	#hasUnmentionedName(ino: number): boolean {
		return this.#write.rows.names(ino).some(([parent, name]) => !this.#mentionedBefore(parent, name));
	}

	/** Whether a change is about this entry, by the path that it had before. */
	#mentionedBefore(parent: number, name: SqlName): boolean {
		this.#keysBefore ??= new Set(
			[...this.#byPath.keys()].flatMap((path) => {
				const directory = path === '' ? null : this.#inoBefore(parentPath(path));
				return directory === null ? [] : keyOf(directory, toEntryName(baseName(path)));
			}),
		);
		return this.#keysBefore.has(keyOf(parent, name));
	}
}

/** TEXT and BLOB names of equal bytes do not occur together, but are told apart anyway. */
function keyOf(parent: number, name: SqlName): string {
	return typeof name === 'string' ? `${parent}/${name}` : `${parent}//${name.toString('latin1')}`;
}
