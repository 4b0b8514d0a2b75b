import fc from 'fast-check';
import { baseName, isWithin, joinPath, parentPath } from '../../src/base/paths.ts';
import type { LayerNode, LayerRig } from './layer-rig.ts';

/** One random step; its numbers are read against the state it meets, so that every sequence makes sense and shrinks. */
export interface LayerStep {
	readonly what: (typeof KINDS)[number];
	readonly where: number;
	readonly name: number;
	readonly value: number;
}

const KINDS = [
	'file',
	'directory',
	'opaque',
	'symlink',
	'whiteout',
	'remove',
	'link',
	'rename',
	'change',
	'snapshot',
] as const;
const NAMES = ['a', 'b', 'c', 'd\udcff'];

/** A random step; snapshots are twice as likely as each of the rest. */
export const layerStep: fc.Arbitrary<LayerStep> = fc.record({
	what: fc.constantFrom(...KINDS, 'snapshot' as const),
	where: fc.nat(1000),
	name: fc.nat(NAMES.length - 1),
	value: fc.nat(20),
});

/** Plays a step on the layer. */
export function playLayerStep(rig: LayerRig, { what, where, name, value }: LayerStep): void {
	const paths = pathsByKind(rig);
	const directory = pick(paths.directories, where) ?? '';
	const path = joinPath(directory, NAMES[name] as string);
	const anything = pick(paths.others, where + value);
	if (what === 'snapshot') rig.snapshot();
	else if (what === 'remove') {
		if (anything !== undefined) rig.remove(anything);
	} else if (what === 'rename' || what === 'link') {
		const pool = what === 'link' ? paths.files : paths.real;
		const from = pick(pool, value * 7 + where);
		if (from === undefined || from === path || isWithin(path, from) || isWithin(from, path)) return;
		rig.remove(path);
		if (what === 'link') rig.link(from, path);
		else rig.rename(from, path);
	} else if (what === 'change') {
		const file = pick(paths.files, value * 3 + where);
		if (file !== undefined) rig.put(file, nodeOf('file', value));
	} else if (parentPath(path) !== path || baseName(path) !== '') rig.put(path, nodeOf(what, value));
}

/** A node of a kind, different for each value. */
export function nodeOf(what: 'file' | 'directory' | 'opaque' | 'symlink' | 'whiteout', value: number): LayerNode {
	const mode = 0o700 + value;
	const xattr = value % 3 === 0 ? { xattr: `x${value}` } : {};
	if (what === 'file')
		return { kind: 'file', content: 'abcdefghijklmnopqrstuvwxyz'.slice(value % 7, value), mode, ...xattr };
	if (what === 'symlink') return { kind: 'symlink', target: `t${value}` };
	if (what === 'whiteout') return { kind: 'whiteout' };
	return { kind: 'directory', mode, opaque: what === 'opaque', ...xattr };
}

function pathsByKind(rig: LayerRig) {
	const view = rig.at('now');
	const found = { directories: [] as string[], files: [] as string[], real: [] as string[], others: [] as string[] };
	for (const { path, ino } of view.walk(rig.root)) {
		if (path !== '') found.others.push(path);
		if (ino === 0) continue;
		if (path !== '') found.real.push(path);
		const { kind } = view.inode(ino);
		if (kind === 'directory') found.directories.push(path);
		if (kind === 'file') found.files.push(path);
	}
	return found;
}

function pick<T>(pool: readonly T[], number: number): T | undefined {
	return pool[number % Math.max(pool.length, 1)];
}
