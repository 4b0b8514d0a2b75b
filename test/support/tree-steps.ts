import fc from 'fast-check';
import type { Inode, Kind } from '../../src/base/inode.ts';
import { isWithin, joinPath } from '../../src/base/paths.ts';
import type { Store } from '../../src/store/store.ts';
import type { ModelNode, TreeModel } from './tree-model.ts';

/** One random operation. Its numbers are read against the state it meets, so that every sequence makes sense and shrinks. */
export interface TreeStep {
	readonly what: keyof typeof PLAY;
	readonly where: number;
	readonly other: number;
	readonly name: number;
	readonly value: number;
}

/** A random operation on the live tree. */
export function treeStep(): fc.Arbitrary<TreeStep> {
	return fc.record({
		what: fc.constantFrom(...(Object.keys(PLAY) as TreeStep['what'][])),
		where: fc.nat(10_000),
		other: fc.nat(10_000),
		name: fc.nat(NAMES.length - 1),
		value: fc.nat(10_000),
	});
}

/** Does the same to the store's tree and to the model. Called inside Store.write. */
export function playTreeStep(store: Store, root: number, model: TreeModel, step: TreeStep): void {
	PLAY[step.what](new Scene(store, root, model, step));
}

/** Valid UTF-8, bytes that are not, names that look like numbers, and one that sorts before the rest. */
const NAMES = ['a', 'b', 'c', 'd\udcff', '\udc80', '1e3', 'é', '-'];

class Scene {
	readonly store: Store;
	readonly root: number;
	readonly step: TreeStep;
	readonly name: string;
	readonly nodes: Map<string, ModelNode | null>;
	readonly #paths: string[];

	constructor(store: Store, root: number, model: TreeModel, step: TreeStep) {
		this.store = store;
		this.root = root;
		this.step = step;
		this.name = NAMES[step.name] as string;
		this.nodes = model.nodes();
		this.#paths = [...this.nodes.keys()];
	}

	/** A path of some kind, chosen by a number. */
	pick(number: number, suits: (node: ModelNode | null, path: string) => boolean): string | null {
		const pool = this.#paths.filter((path) => suits(this.node(path), path));
		return pool[number % Math.max(pool.length, 1)] ?? null;
	}

	directory(number = this.step.where): string {
		return this.pick(number, (node) => node?.inode.kind === 'directory') ?? '';
	}

	file(): string | null {
		return this.pick(this.step.where, (node) => node?.inode.kind === 'file');
	}

	node(path: string): ModelNode | null {
		return this.nodes.get(path) ?? null;
	}

	children(path: string): Map<string, ModelNode | null> {
		return (this.node(path) as ModelNode).children;
	}

	ino(path: string): number {
		return this.store.tree.at('now').resolve(this.root, path) as number;
	}

	/** Directory and name of a path, as the tree takes them. */
	entry(path: string): [parent: number, name: string] {
		const slash = path.lastIndexOf('/');
		return [this.ino(slash < 0 ? '' : path.slice(0, slash)), path.slice(slash + 1)];
	}

	parent(path: string): Map<string, ModelNode | null> {
		const slash = path.lastIndexOf('/');
		return this.children(slash < 0 ? '' : path.slice(0, slash));
	}

	create(kind: Kind, fields: Partial<Inode> = {}, chunkBytes?: number): void {
		const inode = { ...someInode(kind, this.step.value), ...fields };
		const directory = this.directory();
		this.store.tree.put(this.ino(directory), this.name, inode, chunkBytes);
		this.children(directory).set(this.name, {
			inode,
			data: Buffer.alloc(kind === 'file' ? inode.size : 0),
			children: new Map(),
		});
	}
}

const CHUNKS = [65_536, 65_536, 16_384, 512];
const OFFSETS = [0, 0, 3, 500, 65_530, 65_536, 70_000, 131_072];

const PLAY = {
	file(scene: Scene): void {
		const size = [0, 10, 700, 66_000][scene.step.value % 4] as number;
		scene.create('file', { size }, CHUNKS[scene.step.other % CHUNKS.length]);
	},
	directory: (scene: Scene): void => scene.create('directory', { opaque: scene.step.value % 3 === 0 }),
	symlink(scene: Scene): void {
		const target = `to/${scene.name}/${scene.step.value}`;
		scene.create('symlink', { target, size: Buffer.byteLength(target) });
	},
	special: (scene: Scene): void =>
		scene.create((['fifo', 'socket', 'char', 'block'] as const)[scene.step.value % 4] as Kind, {
			rdev: scene.step.value % 4 > 1 ? 0x501 : 0,
		}),
	write(scene: Scene): void {
		const path = scene.file();
		if (path === null) return;
		const offset = OFFSETS[scene.step.other % OFFSETS.length] as number;
		const data = someBytes(scene.step.value);
		scene.store.tree.write(scene.ino(path), offset, data);
		const node = scene.node(path) as ModelNode;
		const size = data.length === 0 ? node.data.length : Math.max(node.data.length, offset + data.length);
		const bytes = Buffer.alloc(size);
		node.data.copy(bytes);
		data.copy(bytes, offset);
		node.data = bytes;
		node.inode = { ...node.inode, size };
	},
	truncate(scene: Scene): void {
		const path = scene.file();
		if (path === null) return;
		const size = [0, 2, 600, 65_000, 65_536, 66_000, 140_000][scene.step.value % 7] as number;
		scene.store.tree.truncate(scene.ino(path), size);
		resize(scene.node(path) as ModelNode, size);
	},
	attributes(scene: Scene): void {
		const path = scene.pick(scene.step.where, (node) => node !== null);
		if (path === null) return;
		const node = scene.node(path) as ModelNode;
		const { kind, size, target, rdev } = node.inode;
		const inode = { ...someInode(kind, scene.step.value), size, target, rdev };
		scene.store.tree.setInode(scene.ino(path), inode);
		node.inode = inode;
	},
	resizeByAttributes(scene: Scene): void {
		const path = scene.file();
		if (path === null) return;
		const node = scene.node(path) as ModelNode;
		const inode = { ...node.inode, size: scene.step.value % 1000 };
		scene.store.tree.setInode(scene.ino(path), inode);
		resize(node, inode.size);
	},
	remove(scene: Scene): void {
		const path = scene.pick(scene.step.where, (_, each) => each !== '');
		if (path === null) return;
		scene.store.tree.remove(...scene.entry(path));
		scene.parent(path).delete(scene.entry(path)[1]);
	},
	whiteout(scene: Scene): void {
		const directory = scene.directory();
		scene.store.tree.whiteout(scene.ino(directory), scene.name);
		scene.children(directory).set(scene.name, null);
	},
	link(scene: Scene): void {
		const path = scene.pick(scene.step.where, (node) => node !== null && node.inode.kind !== 'directory');
		if (path === null) return;
		const directory = scene.directory(scene.step.other);
		scene.store.tree.link(scene.ino(directory), scene.name, scene.ino(path));
		scene.children(directory).set(scene.name, scene.node(path));
	},
	rename(scene: Scene): void {
		const path = scene.pick(scene.step.where, (node, each) => node !== null && each !== '');
		if (path === null) return;
		const node = scene.node(path) as ModelNode;
		const directory = scene.directory(scene.step.other);
		const target = joinPath(directory, scene.name);
		if (isWithin(directory, path) || isWithin(path, target) || scene.node(target) === node) return;
		scene.store.tree.rename(...scene.entry(path), scene.ino(directory), scene.name);
		scene.parent(path).delete(path.slice(path.lastIndexOf('/') + 1));
		scene.children(directory).set(scene.name, node);
	},
};

function resize(node: ModelNode, size: number): void {
	const bytes = Buffer.alloc(size);
	node.data.copy(bytes);
	node.data = bytes;
	node.inode = { ...node.inode, size };
}

/** An inode that a number stands for; equal numbers give equal inodes. atime and ctime follow mtime, see TreeModel's users. */
function someInode(kind: Kind, value: number): Inode {
	const time = { sec: 1_700_000_000 + (value % 5), nsec: (value * 7919) % 1_000_000_000 };
	const xattrs = new Map<string, Buffer>();
	if (value % 2 === 0) xattrs.set('user.k', Buffer.from([value % 256]));
	if (value % 5 === 0) xattrs.set('user.\udcfe', Buffer.alloc(value % 3));
	return {
		kind,
		mode: value % 0o10000,
		uid: value % 3,
		gid: value % 2,
		size: 0,
		rdev: 0,
		atime: time,
		mtime: time,
		ctime: time,
		target: null,
		opaque: false,
		xattrs,
	};
}

/** Some bytes, often with zeros at the end or all over. */
function someBytes(value: number): Buffer {
	const length = [0, 1, 40, 600, 5000, 66_000][value % 6] as number;
	const data = Buffer.alloc(length);
	const written = value % 4 === 0 ? 0 : value % 4 === 1 ? Math.ceil(length / 3) : length;
	for (let at = 0; at < written; at++) data[at] = (at * 31 + value) % 251;
	return data;
}
