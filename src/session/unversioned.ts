import { isWithin } from '../base/paths.ts';
import { UNVERSIONED_PLACES } from '../sandbox/home-places.ts';
import type { LayerRole } from './layer-place.ts';

/** Which paths of a tree live in the layer and are in no snapshot: in home, the caches of known tools. */
export function unversionedIn(role: LayerRole): ((path: string) => boolean) | undefined {
	return role === 'home' ? isToolCache : undefined;
}

function isToolCache(path: string): boolean {
	return UNVERSIONED_PLACES.some((place) => isWithin(path, place));
}
