import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inodeOf, type LayerNode, LayerRig } from '../../test/support/layer-rig.ts';
import { layerStep, nodeOf, playLayerStep } from '../../test/support/random-layer.ts';
import { type Content, PIECE_BYTES } from '../base/change.ts';
import type { Inode } from '../base/inode.ts';
import { isWithin, joinPath, parentPath } from '../base/paths.ts';
import { type Overwritten, writeOverwrittenIntoHistory } from './base-moved.ts';
import { collectGarbage } from './gc.ts';
import { checkIntegrity } from './integrity.ts';
import type { TreeView } from './tree-view.ts';

type HostNode = Exclude<LayerNode, { kind: 'whiteout' }>;
/** The base by path, its root left out. */
type Host = ReadonlyMap<string, HostNode>;

describe('writeOverwrittenIntoHistory', () => {
	it('leaves what every snapshot shows as it was, whatever is applied, and after gc', () => {
		const round = fc.record({
			layer: fc.array(layerStep, { maxLength: 25 }),
			host: fc.array(hostStep, { maxLength: 12 }),
			drop: fc.array(fc.nat(30), { maxLength: 5 }),
			listed: fc.boolean(),
		});
		fc.assert(
			fc.property(fc.array(round, { minLength: 1, maxLength: 5 }), (rounds) => {
				using rig = new LayerRig();
				const shown = new Map<number, Map<string, string>>();
				let host: Host = new Map();
				for (const { layer, host: changes, drop, listed } of rounds) {
					for (const step of layer) {
						playLayerStep(rig, step);
						if (step.what === 'snapshot') shown.set(rig.ids().at(-1) as number, mergedView(rig, 'present', host));
					}
					const present = rig.dump('now');

					const after = changes.reduce(changeHost, host);
					const directory = (path: string) => inodeAt(host, path);
					writeOverwrittenIntoHistory(rig, rig.root, overwrittenBetween(host, after, listed), { directory });
					host = after;

					expect(rig.dump('now')).toEqual(present);
					for (const id of collectGarbage(rig, { drop }).dropped) shown.delete(id);
					expect(rig.ids()).toEqual([...shown.keys()]);
					for (const [id, view] of shown) {
						expect(mergedView(rig, id, host)).toEqual(view);
						expect(rig.snapshots.get(id)).toMatchObject(totalsOf(rig, id));
					}
					expect(checkIntegrity(rig).checks.filter(({ found, ran }) => found > 0 || !ran)).toEqual([]);
				}
			}),
			{ numRuns: 80 },
		);
	});

	it('keeps the old content of a file that no layer has, with the directories above it', () => {
		using rig = new LayerRig();
		rig.snapshot();
		const host: Host = new Map<string, HostNode>([
			['d', nodeOf('directory', 1) as HostNode],
			['d/e', nodeOf('directory', 2) as HostNode],
			['d/e/f', { kind: 'file', content: 'before', mode: 0o640, xattr: 'x' }],
		]);
		const before = mergedView(rig, 1, host);
		const after = new Map(host).set('d/e/f', { kind: 'file', content: 'after', mode: 0o600 });

		const directory = (path: string) => inodeAt(host, path);
		expect(writeOverwrittenIntoHistory(rig, rig.root, overwrittenBetween(host, after), { directory })).toBe(3);

		expect(mergedView(rig, 1, after)).toEqual(before);
		expect(rig.dump('now').size).toBe(1);
		expect(rig.snapshots.get(1)).toMatchObject({ files: 3, bytes: 6 });
	});

	it('writes one row over all snapshots that lack the path, and none where the layer has it', () => {
		using rig = new LayerRig();
		rig.snapshot();
		rig.snapshot();
		rig.put('f', { kind: 'file', content: 'mine', mode: 0o600 });
		rig.snapshot();
		rig.snapshot();
		rig.remove('f');
		rig.snapshot();
		rig.snapshot();

		writeOverwrittenIntoHistory(rig, rig.root, [overwritten('f', { kind: 'file', content: 'base', mode: 0o600 })]);

		const rows = rig.db.prepare('select born, died from entry_past order by born', 'tuple').all();
		expect(rows).toEqual([
			[1, 3],
			[3, 5],
			[5, 7],
		]);
		expect(rig.number('select count(distinct ino) from entry_past')).toBe(2);
	});

	it('writes a whiteout where the base held nothing', () => {
		using rig = new LayerRig();
		rig.snapshot();
		writeOverwrittenIntoHistory(rig, rig.root, [{ path: 'new', before: null, content: null }]);
		expect(rig.dump(1).get('new')).toBe('whiteout');
		expect(rig.snapshots.get(1)).toMatchObject({ files: 0, bytes: 0 });
	});

	it('writes nothing where a whiteout, an opaque directory or a file hides the base', () => {
		using rig = new LayerRig();
		rig.put('w', { kind: 'whiteout' });
		rig.put('o', nodeOf('opaque', 1));
		rig.put('f', nodeOf('file', 3));
		rig.snapshot();
		const list = ['w', 'w/x', 'o/x', 'o/x/y', 'f/x'].map((path) =>
			overwritten(path, nodeOf('directory', 2) as HostNode),
		);
		expect(writeOverwrittenIntoHistory(rig, rig.root, list)).toBe(0);
	});

	it('writes nothing a second time', () => {
		using rig = new LayerRig();
		rig.snapshot();
		const list = [
			overwritten('d', nodeOf('directory', 1) as HostNode),
			overwritten('d/f', nodeOf('file', 5) as HostNode),
		];
		expect(writeOverwrittenIntoHistory(rig, rig.root, list)).toBe(2);
		expect(writeOverwrittenIntoHistory(rig, rig.root, list)).toBe(0);
	});

	it('goes on where a call was cut short', () => {
		using rig = new LayerRig();
		rig.snapshot();
		const list = [
			overwritten('d', nodeOf('directory', 1) as HostNode),
			overwritten('d/f', nodeOf('file', 5) as HostNode),
		];
		writeOverwrittenIntoHistory(rig, rig.root, list.slice(0, 1));
		expect(writeOverwrittenIntoHistory(rig, rig.root, list)).toBe(1);
		expect(rig.snapshots.get(1)).toMatchObject(totalsOf(rig, 1));
	});

	it('refuses a list that leaves out a directory it does not tell about', () => {
		using rig = new LayerRig();
		rig.snapshot();
		expect(() =>
			writeOverwrittenIntoHistory(rig, rig.root, [overwritten('d/f', nodeOf('file', 5) as HostNode)]),
		).toThrow("the base's directory d is neither listed nor known");
	});

	it('stores content that the store has already once', () => {
		using rig = new LayerRig();
		rig.snapshot();
		const list = ['a', 'b'].map((path) => overwritten(path, { kind: 'file', content: 'same', mode: 0o600 }));
		writeOverwrittenIntoHistory(rig, rig.root, list);
		expect(rig.number('select count(*) from blob')).toBe(1);
		expect(rig.number('select count(*) from chunk_past')).toBe(2);
	});

	it('keeps holes as holes and windows in their place', () => {
		using rig = new LayerRig();
		rig.snapshot();
		const size = 2 * PIECE_BYTES + 3;
		const before = { ...inodeOf({ kind: 'file', content: '', mode: 0o600 }), size };
		const data = Buffer.from('end');
		const content: Content = { size, pieces: () => [{ offset: 2 * PIECE_BYTES, data }] };
		writeOverwrittenIntoHistory(rig, rig.root, [{ path: 'sparse', before, content }]);
		const view = rig.at(1);
		const pieces = [...view.content(view.resolve(rig.root, 'sparse') as number).pieces()];
		expect(pieces).toEqual([{ offset: 2 * PIECE_BYTES, data }]);
	});
});

interface HostStep {
	readonly what: 'file' | 'directory' | 'symlink' | 'remove';
	readonly where: number;
	readonly name: number;
	readonly value: number;
}

const hostStep: fc.Arbitrary<HostStep> = fc.record({
	what: fc.constantFrom('file', 'file', 'directory', 'directory', 'symlink', 'remove'),
	where: fc.nat(1000),
	name: fc.nat(3),
	value: fc.nat(20),
});

/** The base after one more change; a directory that stays one keeps what is in it. */
function changeHost(host: Host, { what, where, name, value }: HostStep): Host {
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
function overwrittenBetween(before: Host, after: Host, listed = false): Overwritten[] {
	const paths = new Set<string>();
	for (const path of [...after.keys(), ...before.keys()]) {
		if (JSON.stringify(before.get(path)) === JSON.stringify(after.get(path))) continue;
		paths.add(path);
		for (let above = parentPath(path); listed && above !== ''; above = parentPath(above)) paths.add(above);
	}
	return [...paths].map((path) => overwritten(path, before.get(path) ?? null));
}

function overwritten(path: string, node: HostNode | null): Overwritten {
	if (node === null) return { path, before: null, content: null };
	const before = { ...inodeOf(node), opaque: false };
	if (node.kind !== 'file') return { path, before, content: null };
	const data = Buffer.from(node.content);
	const content = { size: data.length, pieces: () => (data.length === 0 ? [] : [{ offset: 0, data }]) };
	return { path, before, content };
}

function inodeAt(host: Host, path: string): Inode | null {
	const node = host.get(path);
	return node === undefined ? null : inodeOf(node);
}

/** What a reader of a layer over a base sees, by path: the rules of overlayfs, in the plainest form. */
function mergedView(rig: LayerRig, snapshot: number | 'present', host: Host): Map<string, string> {
	const view = rig.at(snapshot === 'present' ? 'now' : snapshot);
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
	visit('', rig.root, true);
	return new Map([...seen].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isChild(path: string, directory: string): boolean {
	return path !== '' && parentPath(path) === directory;
}

function text({ kind, mode, uid, size, mtime, ctime, atime, target, xattrs }: Inode, content: string): string {
	return JSON.stringify({ kind, mode, uid, size, mtime, ctime, atime, target, xattrs: [...xattrs], content });
}

function contentOf(node: HostNode | undefined): string {
	return node?.kind === 'file' ? node.content : '';
}

function layerContent(view: TreeView, ino: number): string {
	if (view.inode(ino).kind !== 'file') return '';
	return Buffer.concat([...view.content(ino).pieces()].map(({ data }) => Buffer.from(data))).toString();
}

function totalsOf(rig: LayerRig, snapshot: number): { files: number; bytes: number } {
	const view = rig.at(snapshot);
	const inos = new Set([...view.walk(rig.root)].map(({ ino }) => ino));
	inos.delete(0);
	inos.delete(rig.root);
	const files = [...inos].map((ino) => view.inode(ino));
	return {
		files: files.length,
		bytes: files.reduce((sum, { kind, size }) => sum + (kind === 'file' ? size : 0), 0),
	};
}
