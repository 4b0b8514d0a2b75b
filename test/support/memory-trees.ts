/** Small trees in memory for tests of what reads trees: by path, with plain values. */
import { createHash } from 'node:crypto';
import { type Content, PIECE_BYTES } from '../../src/base/change.ts';
import type { Inode, Kind } from '../../src/base/inode.ts';
import { parentPath } from '../../src/base/paths.ts';
import { PosixError } from '../../src/base/posix-error.ts';
import type { BaseReader, LayerReader } from '../../src/vfs/merged-view.ts';

/** One thing in a tree: its inode and, of a file, its bytes. Nodes that are the same object are one inode. */
export interface MemoryNode {
	readonly inode: Inode;
	readonly data: Buffer;
}

/** A tree by path; 'whiteout' deletes the name from what lies below. The root '' is added when it is missing. */
export type MemoryTree = Record<string, MemoryNode | 'whiteout'>;

export function file(text: string | Buffer, fields: Partial<Inode> = {}): MemoryNode {
	const data = Buffer.from(text);
	return { inode: memoryInode('file', { mode: 0o644, size: data.length, ...fields }), data };
}

export function directory(fields: Partial<Inode> = {}): MemoryNode {
	return { inode: memoryInode('directory', { mode: 0o755, ...fields }), data: Buffer.alloc(0) };
}

export function symlink(target: string, fields: Partial<Inode> = {}): MemoryNode {
	const size = Buffer.byteLength(target);
	return { inode: memoryInode('symlink', { mode: 0o777, target, size, ...fields }), data: Buffer.alloc(0) };
}

export function special(kind: Kind, fields: Partial<Inode> = {}): MemoryNode {
	return { inode: memoryInode(kind, { mode: 0o600, ...fields }), data: Buffer.alloc(0) };
}

export function memoryInode(kind: Kind, fields: Partial<Inode> = {}): Inode {
	const time = { sec: 1_700_000_000, nsec: 5 };
	return {
		kind,
		mode: 0o644,
		uid: 0,
		gid: 0,
		size: 0,
		rdev: 0,
		atime: time,
		mtime: time,
		ctime: time,
		target: null,
		opaque: false,
		xattrs: new Map(),
		...fields,
	};
}

/** The bytes as content, whole windows of zeros left out. */
export function contentOf(data: Buffer): Content {
	return {
		size: data.length,
		*pieces() {
			for (let offset = 0; offset < data.length; offset += PIECE_BYTES) {
				const piece = data.subarray(offset, offset + PIECE_BYTES);
				if (piece.some((byte) => byte !== 0)) yield { offset, data: piece };
			}
		},
	};
}

/** All bytes of a content. */
export function bytesOf(content: Content): Buffer {
	const all = Buffer.alloc(content.size);
	for (const { offset, data } of content.pieces()) data.copy(all, offset);
	return all;
}

export function sha256(data: string | Buffer): string {
	return createHash('sha256').update(data).digest('hex');
}

/** A host directory. Counts what was read of it. */
export class MemoryBase implements BaseReader {
	readonly reads: string[] = [];
	readonly #nodes = new Map<string, MemoryNode>([['', directory()]]);

	constructor(tree: MemoryTree) {
		for (const [path, node] of Object.entries(tree)) if (node !== 'whiteout') this.#nodes.set(path, node);
	}

	list(path: string): string[] {
		this.reads.push(`list ${path}`);
		const names: string[] = [];
		for (const child of this.#nodes.keys()) {
			if (child !== '' && parentPath(child) === path) names.push(child.slice(path === '' ? 0 : path.length + 1));
		}
		return names;
	}

	stat(path: string): Inode | null {
		this.reads.push(`stat ${path}`);
		return this.#nodes.get(path)?.inode ?? null;
	}

	content(path: string): Content {
		this.reads.push(`content ${path}`);
		const node = this.#nodes.get(path);
		if (node === undefined) throw new PosixError('ENOENT', 'open', path);
		return contentOf(node.data);
	}
}

/** A layer. Its root directory is inode 1. */
export class MemoryLayer implements LayerReader {
	readonly #nodes = new Map<number, MemoryNode>();
	readonly #children = new Map<number, Map<string, number>>([[1, new Map()]]);

	constructor(tree: MemoryTree) {
		const inodeOf = new Map<MemoryNode, number>();
		const byPath = new Map<string, number>([['', 1]]);
		const root = tree[''];
		this.#nodes.set(1, root === undefined || root === 'whiteout' ? directory() : root);
		for (const [path, node] of Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1))) {
			if (path === '') continue;
			const parent = byPath.get(parentPath(path));
			if (parent === undefined) throw new Error(`the layer has ${path} but not its directory`);
			const known = node === 'whiteout' ? 0 : inodeOf.get(node);
			const ino = known ?? this.#nodes.size + 1;
			this.#children.get(parent)?.set(path.slice(path.lastIndexOf('/') + 1), ino);
			if (node === 'whiteout' || known !== undefined) continue;
			inodeOf.set(node, ino);
			this.#nodes.set(ino, node);
			byPath.set(path, ino);
			this.#children.set(ino, new Map());
		}
	}

	lookup(parent: number, name: string): number | null {
		return this.#children.get(parent)?.get(name) ?? null;
	}

	has(ino: number): boolean {
		return this.#nodes.has(ino);
	}

	inode(ino: number): Inode {
		return this.#node(ino).inode;
	}

	children(ino: number): Iterable<readonly [string, number]> {
		return this.#children.get(ino) ?? [];
	}

	content(ino: number): Content {
		return contentOf(this.#node(ino).data);
	}

	*names(ino: number): Generator<{ parent: number; name: string }> {
		for (const [parent, names] of this.#children) {
			for (const [name, child] of names) if (child === ino) yield { parent, name };
		}
	}

	#node(ino: number): MemoryNode {
		const node = this.#nodes.get(ino);
		if (node === undefined) throw new Error(`no inode ${ino}`);
		return node;
	}
}
