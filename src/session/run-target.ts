import { Refusal } from '../base/refusal.ts';
import { knownBase } from './known-base.ts';
import { distinctSessionIdFor, sessionIdFor } from './session-id.ts';
import { findPlace, placeInStore, type SessionPlace, sessionExists } from './session-place.ts';

/** Which session a run is to happen in. */
export interface RunTarget {
	readonly place: SessionPlace;
	/** The base to make the session over; null when it exists already. */
	readonly create: {
		readonly basePath: string | null;
		/** One that another command makes meanwhile will not do. */
		readonly mustBeNew: boolean;
	} | null;
}

/** The session that must exist. Throws Refusal 'invalid'. */
export function existingTarget(storePath: string, idOrPath: string): RunTarget {
	return { place: findPlace(storePath, idOrPath), create: null };
}

/** The session of this name, made over the directory when it is missing. Throws Refusal 'failed' for one over another. */
export async function namedTarget(
	storePath: string,
	id: string,
	directory: string,
	baseGiven: boolean,
): Promise<RunTarget> {
	const place = placeInStore(storePath, id);
	if (!sessionExists(place)) return { place, create: { basePath: directory, mustBeNew: false } };
	const base = await baseOf(place);
	if (baseGiven && base !== directory) {
		throw new Refusal(
			'failed',
			'other-base',
			`session '${id}' is over ${base ?? 'no directory'}, not over ${directory}`,
			{
				hint: `use \`dropcloth attach ${id} DIR\` when the base was moved`,
			},
		);
	}
	return { place, create: null };
}

/** The session that is named after the directory: resumed when it is over that one, and never another's. */
export async function quickTarget(storePath: string, directory: string): Promise<RunTarget> {
	for (const id of [sessionIdFor(directory), distinctSessionIdFor(directory)]) {
		const place = placeInStore(storePath, id);
		if (!sessionExists(place)) return { place, create: { basePath: directory, mustBeNew: false } };
		if ((await baseOf(place)) === directory) return { place, create: null };
	}
	return freshTarget(storePath, directory);
}

/** A session that did not exist before, named after the directory. */
export function freshTarget(storePath: string, directory: string): RunTarget {
	const name = sessionIdFor(directory);
	for (let number = 1; ; number++) {
		const place = placeInStore(storePath, number === 1 ? name : `${name}-${number}`);
		if (!sessionExists(place)) return { place, create: { basePath: directory, mustBeNew: true } };
	}
}

/** What opens a store is loaded only when nothing lies beside it that tells the base. */
async function baseOf(place: SessionPlace): Promise<string | null> {
	const known = knownBase(place);
	if (known !== undefined) return known;
	const { basePathOf } = await import('./find-session.ts');
	return basePathOf(place);
}
