import { closeSync, constants, fdatasyncSync, lstatSync, openSync } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { isWithin } from '../base/paths.ts';
import { errorCode } from '../base/posix-error.ts';
import { isFileRecord, recordIno } from '../layer/scan-record.ts';
import type { UnnamedFile, WritableFiles } from '../sandbox/writable-files.ts';
import type { KernelLive } from './kernel-live.ts';
import { type LayerRole, upperPath } from './layer-place.ts';
import type { OwnedSession } from './session.ts';
import type { TakeIn } from './take-in.ts';

/** A live layer in which files may be mapped. */
export interface MappedPlace {
	readonly session: OwnedSession;
	readonly layer: KernelLive;
	/** Its trees by where they are seen inside. */
	readonly seenAt: ReadonlyMap<LayerRole, string>;
}

/**
 * Writes back the pages of files that are mapped shared and writable, so that the next store through the mapping moves the
 * file's times. Returns them as paths in each tree: their content has to be read whatever their times say.
 */
export function flushMapped(
	place: MappedPlace,
	takeIn: Pick<TakeIn, 'memoryOf'>,
	{ mapped, mappedUnnamed }: WritableFiles,
): Map<LayerRole, Set<string>> {
	const found = inTrees(place, mapped);
	for (const file of mappedUnnamed) addNames(place, takeIn, file, found);
	for (const [role, paths] of found) {
		for (const path of paths) if (!flush(`${upperPath(place.layer.place, role)}/${path}`)) paths.delete(path);
	}
	return found;
}

/**
 * The names that a file has which is mapped by one that was taken away. One that was copied up keeps the number of the base's
 * inode to those inside: then nothing tells it from the other files of the layer, and all of them are read.
 */
function addNames(
	{ session, seenAt }: MappedPlace,
	takeIn: Pick<TakeIn, 'memoryOf'>,
	{ path, ino }: UnnamedFile,
	found: Map<LayerRole, Set<string>>,
): void {
	const role = innermostRole(seenAt, path);
	const memory = role === null ? null : takeIn.memoryOf(role);
	if (role === null || memory === null) return;
	const own = [...memory.pathsOf((records, at) => isFileRecord(records, at) && recordIno(records, at) === ino)];
	const below = path.slice((seenAt.get(role) as string).length + 1);
	const base = session.store.tree.root(role)?.basePath ?? null;
	const names = own.length === 0 && inoOfBase(base, below) === ino ? memory.pathsOf(isFileRecord) : own;
	const paths = found.get(role) ?? new Set();
	for (const name of names) paths.add(name);
	found.set(role, paths);
}

function inoOfBase(base: string | null, below: string): bigint | null {
	if (base === null) return null;
	try {
		return lstatSync(fsPath(`${base}/${below}`), { bigint: true }).ino;
	} catch (error) {
		if (errorCode(error) === null) throw error;
		return null;
	}
}

/** Absolute paths as they are seen inside, as paths in each tree; those in none are left out. */
export function inTrees(
	{ seenAt }: Pick<MappedPlace, 'seenAt'>,
	seen: ReadonlySet<string>,
): Map<LayerRole, Set<string>> {
	const found = new Map<LayerRole, Set<string>>();
	for (const absolute of seen) {
		const role = innermostRole(seenAt, absolute);
		if (role === null) continue;
		const path = absolute.slice((seenAt.get(role) as string).length + 1);
		found.set(role, (found.get(role) ?? new Set()).add(path));
	}
	return found;
}

function innermostRole(seenAt: MappedPlace['seenAt'], path: string): LayerRole | null {
	let best: LayerRole | null = null;
	for (const [role, place] of seenAt) {
		if (isWithin(path, place) && (best === null || place.length > (seenAt.get(best) as string).length)) best = role;
	}
	return best;
}

/** False for a file that is not in the upper directory (any more). */
function flush(path: string): boolean {
	let fd: number;
	try {
		fd = openSync(fsPath(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
	} catch (error) {
		if (errorCode(error) === null) throw error;
		return false;
	}
	try {
		fdatasyncSync(fd);
		return true;
	} finally {
		closeSync(fd);
	}
}
