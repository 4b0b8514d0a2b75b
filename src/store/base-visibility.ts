import { baseName, parentPath } from '../base/paths.ts';
import { type SqlName, toSqlName } from './sql-name.ts';
import type { TreeParts } from './tree-parts.ts';

/** A stretch of snapshot numbers: `from` belongs to it, `to` does not. */
export interface Stretch {
	readonly from: number;
	readonly to: number;
}

/** A stretch in which a layer directory lets the base beneath it be seen, or in which a name is missing from one. */
export interface DirectoryStretch extends Stretch {
	/** Inode number of the directory. */
	readonly directory: number;
}

/**
 * Where in history the base shows through a layer. A directory of the layer shows the base when neither it nor one above
 * is opaque, and none above is a whiteout or no directory. Reads past and present rows; the head itself, which is in no
 * snapshot yet, is left out.
 */
export class BaseVisibility {
	readonly #store: Pick<TreeParts, 'db'>;
	readonly #head: number;
	readonly #directories = new Map<string, readonly DirectoryStretch[]>();

	constructor(store: Pick<TreeParts, 'db' | 'head'>, root: number) {
		this.#store = store;
		this.#head = store.head.values().head;
		this.#directories.set('', this.#transparent(root, { from: 0, to: this.#head }));
	}

	/** When a path is not in the layer and what the base has there is seen; in order. */
	gaps(path: string): DirectoryStretch[] {
		return this.#directoriesAt(parentPath(path)).flatMap((parent) => this.#gapsIn(parent, baseName(path)));
	}

	/** Takes note that the layer gets a directory at `path` that is not opaque, where there was nothing. */
	addDirectory(path: string, directory: number, stretches: readonly Stretch[]): void {
		const added = stretches.map(({ from, to }) => ({ from, to, directory }));
		this.#directories.set(path, joined([...this.#directoriesAt(path), ...added]));
	}

	#directoriesAt(path: string): readonly DirectoryStretch[] {
		let known = this.#directories.get(path);
		if (known === undefined) {
			known = this.#directoriesAt(parentPath(path)).flatMap((parent) => this.#childrenIn(parent, baseName(path)));
			this.#directories.set(path, joined(known));
		}
		return known;
	}

	/** A whiteout's 0 is no inode, so nothing shows through it. */
	#childrenIn(parent: DirectoryStretch, name: string): DirectoryStretch[] {
		return this.#entries(parent, name).flatMap(([from, to, ino]) => this.#transparent(ino, { from, to }));
	}

	#gapsIn(parent: DirectoryStretch, name: string): DirectoryStretch[] {
		const gaps: DirectoryStretch[] = [];
		let from = parent.from;
		for (const [born, died] of this.#entries(parent, name)) {
			if (born > from) gaps.push({ ...parent, from, to: born });
			from = died;
		}
		if (from < parent.to) gaps.push({ ...parent, from });
		return gaps;
	}

	/** Versions of one name within the stretch, cut to it, in order. */
	#entries({ directory, from, to }: DirectoryStretch, name: string): [from: number, to: number, ino: number][] {
		const key: [number, SqlName] = [directory, toSqlName(name)];
		return this.#store.db
			.prepare<[number, number, number]>(ENTRIES, 'tuple')
			.all(from, to, ...key, from, to, from, to, this.#head, ...key, to);
	}

	/** When an inode is a directory that is not opaque, within the stretch. */
	#transparent(ino: number, { from, to }: Stretch): DirectoryStretch[] {
		return this.#store.db
			.prepare<[number, number]>(TRANSPARENT, 'tuple')
			.all(from, to, ino, from, to, from, to, this.#head, ino, to)
			.map(([born, died]) => ({ from: born, to: died, directory: ino }));
	}
}

/** Stretches in order, those that touch and are of the same directory made one. */
function joined(stretches: readonly DirectoryStretch[]): DirectoryStretch[] {
	const result: DirectoryStretch[] = [];
	for (const stretch of [...stretches].sort((a, b) => a.from - b.from)) {
		const last = result.at(-1);
		if (last?.to === stretch.from && last.directory === stretch.directory) {
			result[result.length - 1] = { ...last, to: stretch.to };
		} else result.push(stretch);
	}
	return result;
}

const IS_TRANSPARENT = '(mode & 61440) = 16384 and opaque = 0';
const ENTRIES =
	'select max(born, ?), min(died, ?), ino from entry_past where parent=? and name=? and died>? and born<? union all' +
	' select max(born, ?), min(?, ?), ino from entry where parent=? and name=? and born<? order by 1';
const TRANSPARENT =
	`select max(born, ?), min(died, ?) from inode_past where ino=? and died>? and born<? and ${IS_TRANSPARENT} union all` +
	` select max(born, ?), min(?, ?) from inode where ino=? and born<? and ${IS_TRANSPARENT} order by 1`;
