import { closeSync, constants, fdatasyncSync, openSync } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import type { Time } from '../base/inode.ts';
import { isWithin } from '../base/paths.ts';
import { errorCode } from '../base/posix-error.ts';
import type { Launched } from '../sandbox/launch.ts';
import { mappedFiles } from '../sandbox/mapped-files.ts';
import type { KernelLive } from './kernel-live.ts';
import { type LayerRole, upperPath } from './layer-place.ts';
import type { OwnedSession } from './session.ts';
import { TakeIn } from './take-in.ts';

/** The trees of a live layer by where they are seen inside. */
export type SeenAt = ReadonlyMap<LayerRole, string>;

/** The moment at which a live layer was looked at. */
export interface Moment {
	/** Whether nothing had moved since the look before, nor while all was to stand still. */
	readonly atRest: boolean;
	/** How long everything stood still, from the request to stop to the answer that it goes on; 0 when nothing ran any more. */
	readonly frozenMs: number;
}

/**
 * Takes a live layer in as it is at one moment. What is new is read while everything runs; then all stands still for as
 * long as it takes to look again and to read what moved since. `within` joins the transaction.
 */
export async function takeInLive<T>(
	session: OwnedSession,
	layer: KernelLive,
	launched: Launched,
	seenAt: SeenAt,
	agreedAt: Time,
	within: (moment: Moment) => T,
): Promise<T> {
	const takeIn = new TakeIn(session.store, layer, agreedAt);
	const init = await launched.init;
	takeIn.scan(init === null ? new Map() : flushMapped(layer, seenAt, mappedFiles(init)));
	const before = takeIn.changed;
	if (init === null) return takeIn.commit(() => within({ atRest: true, frozenMs: 0 }));
	let mapped = layer.mapped;
	const { frozenMs, undisturbed } = await layer.freeze(() => {
		mapped = flushMapped(layer, seenAt, mappedFiles(init));
		takeIn.scan(mapped);
	});
	const result = takeIn.commit(() => within({ atRest: undisturbed && takeIn.changed === before, frozenMs }));
	layer.mapped = mapped;
	return result;
}

/**
 * The same for what is to be done before anything goes on: everything that the layer holds is committed while all stands
 * still, and then `still` is called with the first process inside, or with null when nothing runs any more.
 */
export async function takeInAndHold<T>(
	session: OwnedSession,
	layer: KernelLive,
	launched: Launched,
	seenAt: SeenAt,
	agreedAt: Time,
	still: (init: number | null) => T,
): Promise<T> {
	const takeIn = new TakeIn(session.store, layer, agreedAt);
	const init = await launched.init;
	const look = () => (init === null ? new Map() : flushMapped(layer, seenAt, mappedFiles(init)));
	takeIn.scan(look());
	let result: { value: T } | null = null;
	await layer.freeze(() => {
		const mapped = look();
		takeIn.scan(mapped);
		takeIn.commit(() => {});
		layer.mapped = mapped;
		result = { value: still(launched.hasEnded ? null : init) };
	});
	if (result === null) throw new Error('a freeze ended without its action');
	return (result as { value: T }).value;
}

/**
 * Writes back the pages of files that are mapped shared and writable, so that the next store through the mapping moves the
 * file's times. Returns them as paths in each tree: their content has to be read whatever their times say.
 */
function flushMapped(layer: KernelLive, seenAt: SeenAt, mapped: ReadonlySet<string>): Map<LayerRole, Set<string>> {
	const found = new Map<LayerRole, Set<string>>();
	for (const seen of mapped) {
		const role = innermostRole(seenAt, seen);
		if (role === null) continue;
		const path = seen.slice((seenAt.get(role) as string).length + 1);
		if (!flush(`${upperPath(layer.place, role)}/${path}`)) continue;
		found.set(role, (found.get(role) ?? new Set()).add(path));
	}
	return found;
}

function innermostRole(seenAt: SeenAt, path: string): LayerRole | null {
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
