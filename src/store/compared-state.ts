import { joinPath } from '../base/paths.ts';
import type { InodeRow, TreeInode } from './inode-row.ts';
import { fromSqlName } from './sql-name.ts';
import type { StoredContent } from './stored-content.ts';
import type { TreeParts } from './tree-parts.ts';
import { rowsAt, type TreeRows } from './tree-rows.ts';
import { TreeView } from './tree-view.ts';

/** One state of one tree that does not move, with what was asked about it remembered. */
export class ComparedState {
	/** The snapshot, or the head for the present. */
	readonly number: number;
	readonly rows: TreeRows;
	readonly view: TreeView;
	readonly #inodes = new Map<number, TreeInode | null>();
	readonly #contents = new Map<number, StoredContent>();
	readonly #paths = new Map<number, string | null>();
	readonly #allPaths = new Map<number, readonly string[]>();
	readonly #inodeRows = new Map<number, InodeRow | null>();
	#namesOf: TreeRows['names'];

	constructor(parts: TreeParts, number: number, root: number) {
		this.number = number;
		const rows = rowsAt(parts.db, number);
		// Most sessions have no extended attribute at all: asking once saves a query per inode.
		const anyXattr = parts.db.prepare<number>(ANY_XATTR, 'value').get() === 1;
		const inode = remembered(this.#inodeRows, rows.inode);
		this.rows = anyXattr ? { ...rows, inode } : { ...rows, inode, xattrs: () => [] };
		this.view = new TreeView(this.rows, parts.blobs);
		this.#paths.set(root, '');
		this.#namesOf = remembered(new Map(), rows.names);
	}

	/** Takes a row of this state that was read together with others: one at a time they cost several times as much. */
	take(row: InodeRow): void {
		this.#inodeRows.set(row[0], row);
	}

	/** Lets names be looked up in another state, which has the same for every inode but some. */
	takeNames(from: ComparedState, except: ReadonlySet<number>): void {
		const own = this.#namesOf;
		this.#namesOf = (ino) => (except.has(ino) ? own(ino) : from.#namesOf(ino));
	}

	inode(ino: number): TreeInode | null {
		let inode = this.#inodes.get(ino);
		if (inode === undefined) {
			inode = this.view.find(ino);
			this.#inodes.set(ino, inode);
		}
		return inode;
	}

	/** The bytes of a file that exists in this state. */
	content(ino: number): StoredContent {
		let content = this.#contents.get(ino);
		if (content === undefined) {
			content = this.view.content(ino);
			this.#contents.set(ino, content);
		}
		return content;
	}

	/** How many names an inode has; 0 when it does not exist. */
	links(ino: number): number {
		return this.inode(ino)?.nlink ?? 0;
	}

	/** The path of a directory; null when it is not in this tree, or in this state. */
	pathOf(directory: number): string | null {
		let path = this.#paths.get(directory);
		if (path === undefined) {
			path = this.pathsOf(directory)[0] ?? null;
			this.#paths.set(directory, path);
		}
		return path;
	}

	/** Every path of an inode in this tree, sorted; '' for the root. */
	pathsOf(ino: number): readonly string[] {
		let paths = this.#allPaths.get(ino);
		if (paths === undefined) {
			paths = this.#paths.get(ino) === '' ? [''] : this.#pathsByNames(ino);
			this.#allPaths.set(ino, paths);
		}
		return paths;
	}

	#pathsByNames(ino: number): string[] {
		const paths = this.#namesOf(ino).flatMap(([parent, name]) => {
			const directory = this.pathOf(parent);
			return directory === null ? [] : joinPath(directory, fromSqlName(name));
		});
		return paths.sort();
	}
}

const ANY_XATTR = 'select exists(select 1 from xattr) or exists(select 1 from xattr_past)';

/** The same function, asked once for each number. */
function remembered<T>(known: Map<number, T>, ask: (ino: number) => T): (ino: number) => T {
	return (ino) => {
		let answer = known.get(ino);
		if (answer === undefined) {
			answer = ask(ino);
			known.set(ino, answer);
		}
		return answer;
	};
}
