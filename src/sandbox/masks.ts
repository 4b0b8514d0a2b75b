import { readdirSync } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { isWithin } from '../base/paths.ts';
import { errorCode } from '../base/posix-error.ts';
import { CREDENTIAL_PLACES } from './credential-places.ts';
import { realPath } from './real-path.ts';
import type { Mask } from './sandbox-spec.ts';

/** What decides the masks; every path absolute. */
export interface MaskRequest {
	readonly home: string | null;
	/** `--mask`. */
	readonly mask: readonly string[];
	/** `--unmask`. */
	readonly unmask: readonly string[];
	/** Our own store: always masked, whatever is opened. */
	readonly storePath: string;
}

/**
 * Every place that is there and must be hidden, by its real path. What the session's layer has made of it is not looked at:
 * the launcher masks what it finds.
 */
export function findMasks(request: MaskRequest): Mask[] {
	const opened = request.unmask.flatMap((path) => realPath(path)?.path ?? []);
	const wanted = [
		...listedPlaces(request.home).filter(({ path }) => !opened.some((open) => isWithin(path, open))),
		...found(request.mask.map((path) => ({ path, reason: '--mask' }))),
		...found([{ path: request.storePath, reason: 'the store of all sessions' }]),
	];
	return [...new Map(wanted.map((mask) => [mask.path, mask])).values()];
}

/** What to tell the user about `--mask` of paths at which nothing is; null when there is nothing to tell. */
export function maskWarning(mask: readonly string[]): string | null {
	const missing = mask.filter((path) => realPath(path) === null);
	if (missing.length === 0) return null;
	return `nothing is at ${missing.join(', ')}: what is made there can be read (--mask hides what is there)`;
}

/** Whether a path is hidden by one of the masks, itself or together with what it lies in. */
export function isMasked(path: string, masks: readonly Mask[]): boolean {
	return masks.some((mask) => isWithin(path, mask.path));
}

function listedPlaces(home: string | null): Mask[] {
	const names = home === null ? new Set<string>() : namesIn(home);
	const places = CREDENTIAL_PLACES.flatMap(({ path, reason }) => {
		if (path.startsWith('/')) return [{ path, reason }];
		const slash = path.indexOf('/');
		return names.has(slash < 0 ? path : path.slice(0, slash)) ? [{ path: `${home}/${path}`, reason }] : [];
	});
	return found(places);
}

/** Names in the home directory, the listed ones exactly: one reading instead of a stat for each listed place. */
function namesIn(home: string): Set<string> {
	try {
		return new Set(readdirSync(fsPath(home)));
	} catch (error) {
		if (errorCode(error) === null) throw error;
		return new Set();
	}
}

function found(places: readonly { path: string; reason: string }[]): Mask[] {
	return places.flatMap(({ path, reason }) => {
		const real = realPath(path);
		return real === null ? [] : [{ path: real.path, directory: real.directory, reason }];
	});
}
