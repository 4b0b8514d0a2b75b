import { execFileSync } from 'node:child_process';
import {
	existsSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';
import { bootId } from '../host/process.ts';
import type { SessionPlace } from './session-place.ts';

/** The trees that a live layer can hold. */
export const LAYER_ROLES = ['project', 'home', 'gitdir'] as const;

export type LayerRole = (typeof LAYER_ROLES)[number];

/** One tree of a live layer: an overlayfs upper directory over a host directory. */
export interface LayerRoot {
	readonly role: LayerRole;
	/** The host directory beneath; null for a session without a base. */
	readonly basePath: string | null;
}

/** The directories of one live layer, `layers/<n>/`. */
export interface LayerPlace {
	readonly number: number;
	readonly path: string;
}

/** Where layer n of a session lies. */
export function layerPlace(place: SessionPlace, number: number): LayerPlace {
	return { number, path: join(place.layersPath, String(number)) };
}

export function upperPath(layer: LayerPlace, role: LayerRole): string {
	return join(layer.path, role, 'upper');
}

export function workPath(layer: LayerPlace, role: LayerRole): string {
	return join(layer.path, role, 'work');
}

/** The file in which the scan remembers what it saw of one tree. */
export function scanMemoryPath(layer: LayerPlace, role: LayerRole): string {
	return join(layer.path, role, 'scan.db');
}

/** Makes an empty layer of this boot with no trees yet. */
export function makeLayer(place: SessionPlace, number: number): LayerPlace {
	const layer = layerPlace(place, number);
	mkdirSync(fsPath(layer.path), { recursive: true, mode: 0o700 });
	writeFileSync(fsPath(bootPath(layer)), bootId(), { mode: 0o600 });
	return layer;
}

/** Whether the layer has a tree, laid out to its end. */
export function hasLayerRoot(layer: LayerPlace, role: LayerRole): boolean {
	return existsSync(fsPath(workPath(layer, role)));
}

/** Makes the directories of one tree, empty; what a killed lay-out left there is removed. */
export function makeLayerRoot(layer: LayerPlace, role: LayerRole): void {
	removeTree(join(layer.path, role));
	mkdirSync(fsPath(upperPath(layer, role)), { recursive: true, mode: 0o700 });
}

/** Says that a tree is laid out. */
export function finishLayerRoot(layer: LayerPlace, role: LayerRole): void {
	mkdirSync(fsPath(workPath(layer, role)), { mode: 0o700 });
}

/** Whether the layer's directories are there and were written since this machine started. */
export function isLayerOfThisBoot(layer: LayerPlace): boolean {
	try {
		return readFileSync(fsPath(bootPath(layer)), 'utf8') === bootId();
	} catch (error) {
		if (errorCode(error) === 'ENOENT') return false;
		throw error;
	}
}

export function layerExists(layer: LayerPlace): boolean {
	return existsSync(fsPath(layer.path));
}

/** The number for a new layer: above every one that is there, kept ones included. */
export function nextLayerNumber(place: SessionPlace): number {
	return (
		1 +
		Math.max(
			0,
			...namesOfLayers(place)
				.map((name) => Number.parseInt(name, 10))
				.filter(Number.isInteger),
		)
	);
}

/** Sets a layer aside under a name that says what it is, and returns its path. Nothing of it is removed. */
export function keepLayerAside(layer: LayerPlace): string {
	for (let attempt = 1; ; attempt++) {
		const kept = `${layer.path}.kept${attempt === 1 ? '' : `-${attempt}`}`;
		if (existsSync(fsPath(kept))) continue;
		renameSync(fsPath(layer.path), fsPath(kept));
		return kept;
	}
}

/** Paths of layers that were set aside. */
export function keptLayers(place: SessionPlace): string[] {
	return namesOfLayers(place)
		.filter((name) => name.includes('.kept'))
		.map((name) => join(place.layersPath, name));
}

/** The layers that are there, those set aside excepted. */
export function layersOf(place: SessionPlace): LayerPlace[] {
	return namesOfLayers(place)
		.filter((name) => /^\d+$/.test(name))
		.map((name) => layerPlace(place, Number(name)));
}

/** Removes every layer but this one: what they held is in the store. Those set aside stay. */
export function removeOtherLayers(place: SessionPlace, layer: LayerPlace): void {
	for (const other of layersOf(place)) if (other.number !== layer.number) removeLayer(other);
}

/** Removes a layer whose content is all in the store. */
export function removeLayer(layer: LayerPlace): void {
	removeTree(layer.path);
}

/**
 * Removes a directory that an agent filled: it may hold directories without permissions (overlayfs' own work/work is one), and
 * be deeper than a path or a stack can be long. rm(1) and chmod(1) go down such a tree by descriptors and follow no link.
 */
export function removeTree(path: string): void {
	if (lstatSync(fsPath(path), { throwIfNoEntry: false }) === undefined) return;
	try {
		rmSync(fsPath(path), { recursive: true });
	} catch (error) {
		if (!(error instanceof RangeError) && !REMOVED_BY_PROGRAMS.has((error as NodeJS.ErrnoException).code ?? ''))
			throw error;
		for (const [program, ...options] of [
			['chmod', '-R', 'u+rwX'],
			['rm', '-rf'],
		] as const) {
			execFileSync(program, [...options, '--', path], { stdio: ['ignore', 'ignore', 'pipe'] });
		}
		if (lstatSync(fsPath(path), { throwIfNoEntry: false }) !== undefined) throw error;
	}
}

const REMOVED_BY_PROGRAMS = new Set(['EACCES', 'EPERM', 'ENAMETOOLONG', 'EMFILE']);

function namesOfLayers(place: SessionPlace): string[] {
	try {
		return readdirSync(fsPath(place.layersPath));
	} catch (error) {
		if (errorCode(error) === 'ENOENT') return [];
		throw error;
	}
}

function bootPath(layer: LayerPlace): string {
	return join(layer.path, 'boot');
}
