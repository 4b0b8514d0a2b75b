import { createHash } from 'node:crypto';
import type { Inode } from '../../src/base/inode.ts';
import { joinPath } from '../../src/base/paths.ts';
import type { TreeView } from '../../src/store/tree-view.ts';

/** One inode of the model. Two directories that hold the same object hold two names of one inode. */
export interface ModelNode {
	inode: Inode;
	data: Buffer;
	/** Names in a directory; null is a whiteout. */
	readonly children: Map<string, ModelNode | null>;
}

/** A layer tree as plain objects: what the store's tree must equal, without any of its ideas. */
export class TreeModel {
	readonly root: ModelNode;

	constructor(root: ModelNode) {
		this.root = root;
	}

	/** A copy that shares nothing, with the same names of the same inodes. */
	clone(): TreeModel {
		const copies = new Map<ModelNode, ModelNode>();
		const copy = (node: ModelNode): ModelNode => {
			const known = copies.get(node);
			if (known !== undefined) return known;
			const made: ModelNode = { inode: node.inode, data: Buffer.from(node.data), children: new Map() };
			copies.set(node, made);
			for (const [name, child] of node.children) made.children.set(name, child === null ? null : copy(child));
			return made;
		};
		return new TreeModel(copy(this.root));
	}

	/** Every path below the root and what it stands for; null is a whiteout. */
	nodes(): Map<string, ModelNode | null> {
		const found = new Map<string, ModelNode | null>([['', this.root]]);
		const walk = (directory: ModelNode, path: string) => {
			for (const [name, child] of directory.children) {
				found.set(joinPath(path, name), child);
				if (child !== null) walk(child, joinPath(path, name));
			}
		};
		walk(this.root, '');
		return found;
	}

	/** Every path with all that its reader sees, as text. */
	dump(): Map<string, string> {
		const nodes = this.nodes();
		const names = new Map<ModelNode, string[]>();
		for (const [path, node] of nodes) if (node !== null) names.set(node, [...(names.get(node) ?? []), path]);
		return sorted(
			[...nodes].map(([path, node]) => [
				path,
				node === null ? 'whiteout' : describe(node.inode, node.data, names.get(node) as string[]),
			]),
		);
	}

	/** Inodes, the root aside, and the bytes of the files among them. */
	totals(): { files: number; bytes: number } {
		const nodes = new Set([...this.nodes().values()].filter((node) => node !== null));
		nodes.delete(this.root);
		return { files: nodes.size, bytes: [...nodes].reduce((sum, { data }) => sum + data.length, 0) };
	}
}

/** A state of the store's tree in the same form. */
export function dumpView(view: TreeView, root: number): Map<string, string> {
	const walked = [...view.walk(root)];
	const names = new Map<number, string[]>();
	for (const { path, ino } of walked) names.set(ino, [...(names.get(ino) ?? []), path]);
	return sorted(walked.map(({ path, ino }) => [path, ino === 0 ? 'whiteout' : describeStored(view, ino, names)]));
}

function describeStored(view: TreeView, ino: number, names: ReadonlyMap<number, string[]>): string {
	const { nlink, ...inode } = view.inode(ino);
	const paths = names.get(ino) as string[];
	if (nlink !== paths.length) throw new Error(`inode ${ino} has ${paths.length} names but nlink ${nlink}`);
	return describe(inode, inode.kind === 'file' ? readAll(view, ino) : Buffer.alloc(0), paths);
}

/** The whole content of a file, holes as zeros; checks the windows as it goes. */
export function readAll(view: TreeView, ino: number): Buffer {
	const content = view.content(ino);
	const whole = Buffer.alloc(content.size);
	let end = 0;
	for (const { offset, data } of content.pieces()) {
		if (offset % 65_536 !== 0 || offset < end) throw new Error(`window at ${offset} after ${end}`);
		if (data.length !== Math.min(65_536, content.size - offset)) throw new Error(`window of ${data.length} bytes`);
		data.copy(whole, offset);
		end = offset + data.length;
	}
	return whole;
}

function describe(inode: Inode, data: Buffer, names: readonly string[]): string {
	const { xattrs, ...fields } = inode;
	const attributes = [...xattrs].map(([name, value]) => `${printable(name)}=${value.toString('hex')}`).sort();
	const hash = inode.kind === 'file' ? createHash('sha1').update(data).digest('hex') : '';
	const links = names.length > 1 ? [...names].map(printable).sort() : [];
	return JSON.stringify([fields, attributes, hash, links]);
}

/** Lone surrogates stand for bytes; JSON would keep them, but text in a failure should show them. */
function printable(text: string): string {
	return text.replace(/[\ud800-\udfff]/gu, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
}

function sorted(rows: [string, string][]): Map<string, string> {
	return new Map(rows.sort(([a], [b]) => (a < b ? -1 : 1)));
}
