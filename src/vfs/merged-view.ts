/**
 * What a reader sees at each path when a layer lies over a host directory: the rules of overlayfs
 * (Documentation/filesystems/overlayfs.rst, "Upper and Lower"), by path and read-only. Layer and base of one path always
 * have that same path: userxattr overlays never redirect.
 */
import type { Content } from '../base/change.ts';
import type { Inode } from '../base/inode.ts';
import { joinPath } from '../base/paths.ts';
import { PosixError } from '../base/posix-error.ts';

/** One version of a layer; store/tree.ts's TreeView is one. */
export interface LayerReader {
	/** The inode of a name; 0 is a whiteout, null when the directory has no such row. */
	lookup(parent: number, name: string): number | null;
	/** Whether this version has the inode: a root that was added later is missing from older ones. */
	has(ino: number): boolean;
	inode(ino: number): Inode;
	/** Every row of a directory, whiteouts (0) included. */
	children(ino: number): Iterable<readonly [name: string, ino: number]>;
	content(ino: number): Content;
	/** Where an inode is named. */
	names(ino: number): Iterable<{ readonly parent: number; readonly name: string }>;
}

/** What lies below a layer; host/host-tree.ts's HostTree is one. */
export interface BaseReader {
	/** Names in a directory, in any order. */
	list(path: string): readonly string[];
	/** Null when nothing is there, and when a part of the path is no directory. */
	stat(path: string): Inode | null;
	/** The same when only the kind matters, where that is cheaper. */
	statBare?(path: string): Pick<Inode, 'kind'> | null;
	content(path: string, size?: number): Content;
}

/** What was found at a path. */
export interface Place {
	/** Inode number in the layer; null when only the base has it. */
	readonly ino: number | null;
	/** The base shows here: the thing itself is the base's, or it is a directory with the base's names merged in. */
	readonly base: boolean;
	/** As a reader sees it. A merged directory is the layer's. */
	readonly inode: Inode;
}

/** A layer over a base, both as they are at one moment: made for one piece of work, and dropped after it. */
export class MergedView {
	readonly #layer: LayerReader | null;
	readonly #base: BaseReader | null;
	readonly #directories = new Map<string, Place>();
	readonly #root: Place | null;

	/** `layer` null shows the bare base; `base` null the bare layer. `root` is the inode of the layer's root directory. */
	constructor(layer: LayerReader | null, root: number, base: BaseReader | null) {
		this.#layer = layer;
		this.#base = base;
		this.#root = rootPlace(layer, root, base);
		if (this.#root !== null) this.#directories.set('', this.#root);
	}

	/** What is at a path, or null. */
	place(path: string): Place | null {
		if (path === '') return this.#root;
		const cut = path.lastIndexOf('/');
		const parent = this.#directory(cut < 0 ? '' : path.slice(0, cut));
		return parent === null ? null : this.#child(parent, path, path.slice(cut + 1));
	}

	/** The inode a reader sees, or null when nothing is there. */
	stat(path: string): Inode | null {
		return this.place(path)?.inode ?? null;
	}

	/** Names in a directory, sorted. Throws ENOENT and ENOTDIR. */
	list(path: string): string[] {
		const place = this.#expect(path, 'readdir');
		if (place.inode.kind !== 'directory') throw new PosixError('ENOTDIR', 'readdir', path);
		const names = new Set<string>(place.base && this.#base !== null ? this.#base.list(path) : []);
		if (place.ino !== null && this.#layer !== null) {
			for (const [name, ino] of this.#layer.children(place.ino)) {
				if (ino === 0) names.delete(name);
				else names.add(name);
			}
		}
		return [...names].sort();
	}

	/** Bytes of a file. Throws ENOENT, and EINVAL for what is no file. */
	content(path: string): Content {
		const { ino, inode } = this.#expect(path, 'read');
		if (inode.kind !== 'file') throw new PosixError('EINVAL', 'read', path);
		if (ino !== null && this.#layer !== null) return this.#layer.content(ino);
		if (this.#base === null) throw new Error(`${path} is in neither layer nor base`);
		return this.#base.content(path, inode.size);
	}

	/** The layer's inode at a path; null when the base's own thing, or nothing, is seen there. */
	layerNode(path: string): number | null {
		return this.place(path)?.ino ?? null;
	}

	/** Every visible path of a layer inode, sorted: more than one when it is hard-linked. */
	pathsOf(ino: number): string[] {
		if (this.#layer === null) return [];
		const paths: string[] = [];
		for (const { parent, name } of this.#layer.names(ino)) {
			const directory = this.#layerPath(parent);
			if (directory === null) continue;
			const path = joinPath(directory, name);
			if (this.layerNode(path) === ino) paths.push(path);
		}
		return paths.sort();
	}

	/**
	 * Every path below a directory, parents before what they hold, itself left out. `keep` false leaves out what lies
	 * below a directory, not the directory.
	 */
	*below(path: string, keep: (path: string) => boolean = () => true): Generator<string> {
		const open = [path];
		for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
			for (const name of this.list(directory)) {
				const child = joinPath(directory, name);
				yield child;
				if (this.stat(child)?.kind === 'directory' && keep(child)) open.push(child);
			}
		}
	}

	/** Every path of which the layer has a row, whiteouts included, parents first; the root directory left out. */
	*layerPaths(): Generator<string> {
		const root = this.#root?.ino ?? null;
		if (this.#layer === null || root === null) return;
		const open: [path: string, ino: number][] = [['', root]];
		for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
			for (const [name, ino] of this.#layer.children(directory[1])) {
				const path = joinPath(directory[0], name);
				yield path;
				if (ino !== 0 && this.#layer.inode(ino).kind === 'directory') open.push([path, ino]);
			}
		}
	}

	#expect(path: string, operation: string): Place {
		const place = this.place(path);
		if (place === null) throw new PosixError('ENOENT', operation, path);
		return place;
	}

	/** The directory at a path; goes down from the nearest one that is known, without recursion: agents nest deeply. */
	#directory(path: string): Place | null {
		const known = this.#directories.get(path);
		if (known !== undefined || path === '') return known ?? null;
		let end = path.length;
		let place: Place | undefined;
		while (place === undefined && end > 0) {
			end = Math.max(path.lastIndexOf('/', end - 1), 0);
			place = this.#directories.get(path.slice(0, end));
		}
		while (place !== undefined && end < path.length) {
			const start = end === 0 ? 0 : end + 1;
			const slash = path.indexOf('/', start);
			end = slash < 0 ? path.length : slash;
			const child: Place | null = this.#child(place, path.slice(0, end), path.slice(start, end));
			if (child?.inode.kind !== 'directory') return null;
			this.#directories.set(path.slice(0, end), child);
			place = child;
		}
		return place ?? null;
	}

	#child(parent: Place, path: string, name: string): Place | null {
		const ino = parent.ino === null || this.#layer === null ? null : this.#layer.lookup(parent.ino, name);
		if (ino === 0) return null;
		const below = parent.base ? this.#base : null;
		if (ino === null || this.#layer === null) {
			const inode = below?.stat(path) ?? null;
			return inode === null ? null : { ino: null, base: true, inode };
		}
		const inode = this.#layer.inode(ino);
		const merged = inode.kind === 'directory' && !inode.opaque && below !== null && isDirectory(below, path);
		return { ino, base: merged, inode };
	}

	#layerPath(ino: number): string | null {
		const names: string[] = [];
		const root = this.#root?.ino;
		for (let at = ino; at !== root; ) {
			const [name] = this.#layer?.names(at) ?? [];
			if (name === undefined) return null;
			names.push(name.name);
			at = name.parent;
		}
		return names.reverse().join('/');
	}
}

function isDirectory(base: BaseReader, path: string): boolean {
	const found = base.statBare === undefined ? base.stat(path) : base.statBare(path);
	return found?.kind === 'directory';
}

function rootPlace(layer: LayerReader | null, root: number, base: BaseReader | null): Place | null {
	const below = base?.stat('') ?? null;
	if (layer === null || !layer.has(root)) return below === null ? null : { ino: null, base: true, inode: below };
	const inode = layer.inode(root);
	return { ino: root, base: below?.kind === 'directory' && !inode.opaque, inode };
}
