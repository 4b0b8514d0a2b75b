import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { Inode } from '../../src/base/inode.ts';
import { isWithin, joinPath, parentPath } from '../../src/base/paths.ts';
import type { Overwritten } from '../../src/store/base-moved.ts';
import type { TreeView } from '../../src/store/tree-view.ts';
import { inodeOf, type LayerNode } from './layer-rig.ts';
import { nodeOf } from './random-layer.ts';

/** What a test's base holds at a path. */
export type HostNode = Exclude<LayerNode, { kind: 'whiteout' }>;

/** The base by path, its root left out. */
export type Host = ReadonlyMap<string, HostNode>;

/** One random change of the base. */
export interface HostStep {
	readonly what: 'file' | 'directory' | 'symlink' | 'remove';
	readonly where: number;
	readonly name: number;
	readonly value: number;
}

/** A random change of the base. */
export const hostStep: fc.Arbitrary<HostStep> = fc.record({
	what: fc.constantFrom('file', 'file', 'directory', 'directory', 'symlink', 'remove'),
	where: fc.nat(1000),
	name: fc.nat(3),
	value: fc.nat(20),
});

/** The base after one more change; a directory that stays one keeps what is in it. */
export function changeHost(host: Host, { what, where, name, value }: HostStep): Host {
	const directories = ['', ...[...host].filter(([, node]) => node.kind === 'directory').map(([path]) => path)];
	const path = joinPath(directories[where % directories.length] as string, ['a', 'b', 'c', 'd\udcff'][name] as string);
	const node = what === 'remove' ? null : (nodeOf(what, value) as HostNode);
	const inside = node?.kind === 'directory' && host.get(path)?.kind === 'directory';
	const after = new Map([...host].filter(([other]) => other === path || inside || !isWithin(other, path)));
	if (node === null) after.delete(path);
	else after.set(path, node);
	return after;
}

/** What an apply that turns one base into the other overwrites; also every directory above, when `listed`. */
export function overwrittenBetween(before: Host, after: Host, listed = false): Overwritten[] {
	const paths = new Set<string>();
	for (const path of [...after.keys(), ...before.keys()]) {
		if (JSON.stringify(before.get(path)) === JSON.stringify(after.get(path))) continue;
		paths.add(path);
		for (let above = parentPath(path); listed && above !== ''; above = parentPath(above)) paths.add(above);
	}
	return [...paths].map((path) => overwritten(path, before.get(path) ?? null));
}

/** What the list says of one path, from what the base holds there. */
export function overwritten(path: string, node: HostNode | null): Overwritten {
	if (node === null) return { path, before: null, content: null };
	const before = { ...inodeOf(node), opaque: false };
	if (node.kind !== 'file') return { path, before, content: null };
	const data = Buffer.from(node.content);
	const content = { size: data.length, pieces: () => (data.length === 0 ? [] : [{ offset: 0, data }]) };
	return { path, before, content };
}

/** The base's inode at a path, or null. */
export function inodeAt(host: Host, path: string): Inode | null {
	const node = host.get(path);
	return node === undefined ? null : inodeOf(node);
}

/** What a reader of a layer over a base sees, by path: the rules of overlayfs, in the plainest form. */
export function mergedView(view: TreeView, root: number, host: Host): Map<string, string> {
	const seen = new Map<string, string>();
	const visit = (path: string, ino: number | null, below: boolean) => {
		const inode = ino === null ? (inodeAt(host, path) as Inode) : view.inode(ino);
		seen.set(path, text(inode, ino === null ? contentOf(host.get(path)) : layerContent(view, ino)));
		if (inode.kind !== 'directory') return;
		const merged = below && !(ino !== null && inode.opaque) && (path === '' || host.get(path)?.kind === 'directory');
		const names = new Map<string, number | null>();
		if (merged) for (const other of host.keys()) if (isChild(other, path)) names.set(other, null);
		if (ino !== null) for (const [name, child] of view.children(ino)) names.set(joinPath(path, name), child);
		for (const [child, layer] of names) if (layer !== 0) visit(child, layer, merged);
	};
	visit('', root, true);
	return new Map([...seen].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isChild(path: string, directory: string): boolean {
	return path !== '' && parentPath(path) === directory;
}

function text({ kind, mode, uid, size, mtime, ctime, atime, target, xattrs }: Inode, content: string): string {
	return JSON.stringify({
		kind,
		mode,
		uid,
		size,
		mtime,
		ctime,
		atime,
		target,
		xattrs: [...xattrs],
		content: digest(content),
	});
}

function contentOf(node: HostNode | undefined): string {
	return node?.kind === 'file' ? node.content : '';
}

/** Holes count as the zeros that a reader sees. */
function layerContent(view: TreeView, ino: number): string {
	const { kind, size } = view.inode(ino);
	if (kind !== 'file') return '';
	const content = Buffer.alloc(size);
	for (const { offset, data } of view.content(ino).pieces()) data.copy(content, offset);
	return content.toString();
}

/** Long contents would make a failure unreadable. */
function digest(content: string): string {
	return content.length <= 40 ? content : createHash('sha256').update(content).digest('hex');
}
