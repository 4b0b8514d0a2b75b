import { isWithin, pathDepth } from '../base/paths.ts';
import { homeForm, homeRoot } from './home-form.ts';
import { overlaysOf, type PlannedOverlay } from './overlays.ts';
import type { Bind, Mask, SandboxSpec } from './sandbox-spec.ts';
import { submountBinds } from './submounts.ts';

/** Something that is attached at a path of the agent's view. */
export type Place =
	| { readonly kind: 'overlay'; readonly path: string; readonly overlay: PlannedOverlay; readonly reason: string }
	| ({ readonly kind: 'bind'; readonly path: string } & Omit<Bind, 'target'>)
	/** An entry of a home directory that is shown in pieces: read-only. */
	| { readonly kind: 'home-entry'; readonly path: string; readonly name: string; readonly reason: string }
	| { readonly kind: 'mask'; readonly path: string; readonly directory: boolean; readonly reason: string }
	/** A small private directory that hides what is there and holds the places below it. */
	| { readonly kind: 'room'; readonly path: string; readonly reason: string };

/** Everything that is attached, each after what it lies in. */
export function placesOf(spec: SandboxSpec): Place[] {
	const shown = [...overlayPlaces(spec), ...bindPlaces(spec)];
	const home = homePlaces(spec, shown);
	const hidden = maskPlaces(spec, [...home, ...shown]);
	// Stable: at one path what is shown comes first, then what hides it.
	return [...home, ...shown, ...hidden].sort((a, b) => pathDepth(a.path) - pathDepth(b.path));
}

/** The innermost of the places and private directories that a path lies in, itself aside. */
export function containerOf<T extends { readonly path: string }>(path: string, places: readonly T[]): T | null {
	let best: T | null = null;
	for (const place of places) {
		if (place.path === path || !isWithin(path, place.path)) continue;
		if (best === null || place.path.length >= best.path.length) best = place;
	}
	return best;
}

/** The private directories of a run, as mount points. */
export function coversOf(spec: SandboxSpec): string[] {
	return [...spec.host.covers, '/dev', '/dev/shm'];
}

function overlayPlaces(spec: SandboxSpec): Place[] {
	return overlaysOf(spec).map((overlay) => ({ kind: 'overlay', path: overlay.path, overlay, reason: overlay.reason }));
}

function bindPlaces(spec: SandboxSpec): Place[] {
	return [...submountBinds(spec), ...spec.binds].map(({ target, ...bind }) => ({
		kind: 'bind',
		path: target,
		...bind,
	}));
}

/** What stands for the host's home directory when that is not laid over as a whole. */
function homePlaces(spec: SandboxSpec, shown: readonly Place[]): Place[] {
	const form = homeForm(spec);
	if (form === 'bare') return bareHome(spec, shown);
	const home = homeRoot(spec);
	if (form !== 'pieces' || home === null) return [];
	const taken = new Set(shown.map(({ path }) => path));
	return (spec.homeEntries ?? [])
		.filter(({ kind, layer }) => kind !== 'symlink' && layer === 'untouched')
		.map(
			({ name }): Place => ({
				kind: 'home-entry',
				path: `${home.path}/${name}`,
				name,
				reason: 'part of the home directory; read-only, because something is mounted below home',
			}),
		)
		.filter(({ path }) => !taken.has(path));
}

function bareHome({ home, reads, roots }: SandboxSpec, shown: readonly Place[]): Place[] {
	const covered = roots.some(({ role, path }) => role === 'project' && home !== null && isWithin(home, path));
	if (home === null || reads === 'home' || covered || shown.some(({ path }) => path === home)) return [];
	return [{ kind: 'room', path: home, reason: 'an empty home directory (--reads project)' }];
}

function maskPlaces(spec: SandboxSpec, shown: readonly Place[]): Place[] {
	const places = [...coversOf(spec).map((path): Place => ({ kind: 'room', path, reason: '' })), ...shown];
	const masks = [...spec.masks, ...masksInBinds(spec)];
	const outermost = masks.filter(
		({ path }) => !masks.some((other) => other.path !== path && isWithin(path, other.path)),
	);
	return outermost.filter((mask) => showsHost(spec, mask, places)).map((mask) => maskPlace(mask, shown));
}

/** Masks that must follow what they hide to where a bind shows it. */
function masksInBinds(spec: SandboxSpec): Mask[] {
	return spec.binds
		.filter(({ source, target }) => source !== target)
		.flatMap(({ source, target }) =>
			spec.masks
				.filter(({ path }) => path !== source && isWithin(path, source))
				.map((mask) => ({ ...mask, path: target + mask.path.slice(source === '/' ? 0 : source.length) })),
		);
}

/** Whether what the mask hides would be seen there at all; what was asked for by name is not hidden. */
function showsHost(spec: SandboxSpec, mask: Mask, places: readonly Place[]): boolean {
	if (places.some(({ kind, path }) => path === mask.path && kind !== 'home-entry')) return false;
	const container = containerOf(mask.path, places);
	if (container === null) return true;
	switch (container.kind) {
		case 'room':
			return false;
		case 'bind':
			return container.source === container.path || !spec.masks.includes(mask);
		case 'overlay':
			return container.overlay.lowers.includes(container.path);
		default:
			return true;
	}
}

function maskPlace({ path, directory, reason }: Mask, shown: readonly Place[]): Place {
	if (shown.some((place) => isWithin(place.path, path))) return { kind: 'room', path, reason };
	return { kind: 'mask', path, directory, reason };
}
