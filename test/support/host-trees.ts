import { chmodSync, lchownSync, linkSync, lstatSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { fsPath } from '../../src/base/bytes.ts';
import type { Change, Content } from '../../src/base/change.ts';
import { type Inode, sameInode } from '../../src/base/inode.ts';
import { joinPath, parentPath } from '../../src/base/paths.ts';
import { makeNodeIn, makeSymlinkIn } from '../../src/host/entries.ts';
import type { HostTree } from '../../src/host/host-tree.ts';
import { InodeHandle } from '../../src/host/inode-handle.ts';
import { AT_FDCWD } from '../../src/host/open-flags.ts';
import type { HostInode } from '../../src/host/read-inode.ts';
import { setXattr } from '../../src/host/xattr.ts';

/** What stands at a path of a random tree; `value` makes each different in content, mode, times and attributes. */
export interface TreeNode {
	readonly kind: (typeof KINDS)[number];
	readonly value: number;
}

/** One path of two trees: what it is in the first and in the second, null when it is not there. */
export interface TreePair {
	/** Indices into the names, one for each part of the path. */
	readonly path: readonly number[];
	readonly before: TreeNode | null;
	readonly after: TreeNode | null;
}

const KINDS = ['file', 'directory', 'symlink', 'fifo', 'socket', 'whiteout', 'device', 'link'] as const;
const NAMES = ['a', 'b', 'not\udcffutf8', 'ü'.repeat(127), '-x y\n'];

const node: fc.Arbitrary<TreeNode> = fc.record({
	kind: fc.constantFrom(...KINDS, 'file', 'file', 'directory', 'directory', 'directory', 'link'),
	value: fc.nat(40),
});

/** Two trees that have much in common. */
export const treePairs: fc.Arbitrary<readonly TreePair[]> = fc.array(
	fc
		.record({
			path: fc.array(fc.nat(NAMES.length - 1), { minLength: 1, maxLength: 4 }),
			one: node,
			other: node,
			fate: fc.constantFrom('kept', 'changed', 'replaced', 'new', 'gone'),
		})
		.map(({ path, one, other, fate }) => ({
			path,
			before: fate === 'new' ? null : one,
			after:
				fate === 'gone'
					? null
					: fate === 'kept'
						? one
						: { kind: fate === 'changed' ? one.kind : other.kind, value: other.value },
		})),
	{ maxLength: 24 },
);

/**
 * Makes one of the two trees in an empty directory, as the present user. Parents that are not planned are directories; what
 * would be below something else is left out. Modes are as tight as they come, when `isReadable` no tighter than their owner
 * can read.
 */
export function makeTree(
	root: string,
	pairs: readonly TreePair[],
	side: 'before' | 'after',
	isReadable: boolean,
): void {
	const made = new Map<string, TreeNode>();
	const make = (path: string, planned: TreeNode) => {
		if (made.has(path) || !hasParent(path)) return;
		if (makeNode(root, path, planned, made)) made.set(path, planned);
	};
	const hasParent = (path: string): boolean => {
		const parent = parentPath(path);
		if (parent === '') return true;
		if (!made.has(parent)) make(parent, { kind: 'directory', value: parent.length % 41 });
		return made.get(parent)?.kind === 'directory';
	};
	for (const pair of [...pairs].sort((a, b) => a.path.length - b.path.length)) {
		const planned = pair[side];
		if (planned !== null) make(pair.path.map((index) => NAMES[index] as string).join('/'), planned);
	}
	for (const [path, { kind, value }] of [...made].reverse()) {
		if (kind !== 'link' && kind !== 'whiteout') describeNode(`${root}/${path}`, kind, value, isReadable);
	}
}

/** What differs between two trees, worked out the plain way. */
export function changesBetween(a: HostTree, b: HostTree): Change[] {
	const [before, after] = [walk(a), walk(b)];
	const changes: Change[] = [];
	for (const path of new Set([...before.keys(), ...after.keys()])) {
		const change = changeOf(path, before.get(path) ?? null, after.get(path) ?? null, a, b);
		if (change !== null) changes.push(change);
	}
	return changes;
}

const isRoot = () => process.geteuid?.() === 0;

function makeNode(root: string, path: string, { kind, value }: TreeNode, made: ReadonlyMap<string, TreeNode>): boolean {
	const at = `${root}/${path}`;
	if (kind === 'file') makeFile(at, value);
	else if (kind === 'directory') mkdirSync(fsPath(at), 0o700);
	else if (kind === 'symlink') makeSymlinkIn(AT_FDCWD, at, `../target${value}`);
	else if (kind === 'fifo' || kind === 'socket') makeNodeIn(AT_FDCWD, at, kind, 0o600);
	else if (kind === 'whiteout') makeNodeIn(AT_FDCWD, at, 'char', 0);
	else if (kind === 'device') {
		if (!isRoot()) return false;
		makeNodeIn(AT_FDCWD, at, value % 2 === 0 ? 'char' : 'block', 0o600, 0x103 + value);
	} else {
		const linkable = [...made].filter(([, other]) => !['directory', 'link', 'whiteout'].includes(other.kind));
		const original = linkable[value % Math.max(linkable.length, 1)];
		if (original === undefined) return false;
		linkSync(fsPath(`${root}/${original[0]}`), fsPath(at));
	}
	return true;
}

function makeFile(at: string, value: number): void {
	const data = Buffer.alloc([0, 1, 70_000, 131_072, 9][value % 5] as number, `content ${value % 8}`);
	writeFileSync(fsPath(at), data);
	// a hole in front of the end
	if (value % 3 === 0) truncateSync(fsPath(at), data.length + 200_000 + value);
}

function describeNode(at: string, kind: TreeNode['kind'], value: number, isReadable: boolean): void {
	if (isRoot() && value % 4 === 0) lchownSync(fsPath(at), 1000 + (value % 3), 2000);
	if (kind === 'file' || kind === 'directory') {
		if (value % 5 === 1) setXattr(at, 'user.first', Buffer.from(`value ${value}`));
		if (value % 7 === 1) setXattr(at, 'user.second', Buffer.from([0, value]));
		if (isRoot() && value % 11 === 1) setXattr(at, 'trusted.third', Buffer.from('t'));
	}
	if (kind !== 'symlink') chmodSync(fsPath(at), modeOf(kind, value, isReadable));
	const handle = InodeHandle.of(AT_FDCWD, at);
	const nsec = (value * 123_456_789) % 1_000_000_000;
	handle.setTimes(
		{ sec: 1_600_000_000 + value, nsec: 1 },
		{ sec: value % 6 === 5 ? -value : 1_700_000_000 - value, nsec },
	);
	handle.close();
}

function modeOf(kind: TreeNode['kind'], value: number, isReadable: boolean): number {
	const tight = [0o644, 0o000, 0o4755, 0o2711, 0o1777, 0o400, 0o555][value % 7] as number;
	if (!isReadable) return tight;
	return tight | (kind === 'directory' ? 0o500 : 0o400);
}

function walk(tree: HostTree, path = '', found = new Map<string, HostInode>()): Map<string, HostInode> {
	const inode = tree.stat(path);
	if (inode === null) return found;
	found.set(path, inode);
	if (inode.kind === 'directory') for (const name of tree.list(path)) walk(tree, joinPath(path, name), found);
	return found;
}

function changeOf(
	path: string,
	before: HostInode | null,
	after: HostInode | null,
	a: HostTree,
	b: HostTree,
): Change | null {
	const isLinked = isShared(before) || isShared(after);
	const sameBytes = before?.kind === 'file' && after?.kind === 'file' && bytesOf(a, path).equals(bytesOf(b, path));
	const isSame = before !== null && after !== null && sameInode(before, after) && (after.kind !== 'file' || sameBytes);
	// a directory's times move when something in it changes, and are to be as they are in the second tree
	if (isSame && !isLinked && after.kind !== 'directory') return null;
	const content: Content | null = after?.kind === 'file' && !sameBytes ? b.content(path) : null;
	return { path, before, after, content, link: isShared(after) ? String(after?.ino) : null, from: null };
}

function isShared(inode: HostInode | null): boolean {
	return inode !== null && inode.kind !== 'directory' && inode.nlink > 1;
}

function bytesOf(tree: HostTree, path: string): Buffer {
	const content = tree.content(path);
	const bytes = Buffer.alloc(content.size);
	for (const { offset, data } of content.pieces()) data.copy(bytes, offset);
	return bytes;
}

/** Whether a file takes less disk than it is long. */
export function isSparse(path: string): boolean {
	const { blocks, size } = lstatSync(path);
	return blocks * 512 < size;
}

/** A content of one piece. */
export function contentOf(text: string | Buffer): Content {
	const data = Buffer.from(text);
	return {
		size: data.length,
		*pieces() {
			if (data.length > 0) yield { offset: 0, data };
		},
	};
}

/** An inode of the present user with what is given. */
export function inodeOf(given: Partial<Inode> & Pick<Inode, 'kind'>): Inode {
	const time = { sec: 1_700_000_000, nsec: 5 };
	return {
		mode: given.kind === 'directory' ? 0o755 : 0o644,
		uid: process.geteuid?.() ?? 0,
		gid: process.getegid?.() ?? 0,
		size: 0,
		rdev: 0,
		atime: time,
		mtime: time,
		ctime: time,
		target: null,
		opaque: false,
		xattrs: new Map(),
		...given,
	};
}
