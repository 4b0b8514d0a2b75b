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

/**
 * Everything that is attached, each after what it lies in. What was asked for by name (the project, its git directory, binds)
 * is shown even within a masked place; whatever else lies there is left out with it.
 */
export function placesOf(spec: SandboxSpec): Place[] {
	const named = [...rootPlaces(spec), ...bindPlaces(spec.binds)];
	const masks = [...spec.masks, ...masksInBinds(spec)];
	const implied = impliedPlaces(spec, named).filter((place) => !isHidden(place.path, masks, named));
	const shown = [...implied, ...named];
	const containers = [...coversOf(spec).map((path): Place => ({ kind: 'room', path, reason: '' })), ...shown];
	const hiding = masks
		.filter((mask) => !isHidden(mask.path, without(masks, mask), named) && showsHost(spec, mask, containers, named))
		.map((mask) => maskPlace(mask, named));
	const silenced = spec.sockets
		.filter((path) => !isHidden(path, masks, named) && isReached(path, containers, named))
		.map((path): Place => ({ kind: 'mask', path, directory: false, reason: 'a program outside listens here' }));
	// Stable: at one path what is shown comes first, then what hides it.
	return [...shown, ...hiding, ...silenced].sort((a, b) => pathDepth(a.path) - pathDepth(b.path));
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

function rootPlaces(spec: SandboxSpec): Place[] {
	return overlaysOf(spec)
		.filter(({ root }) => root.role !== 'home')
		.map(overlayPlace);
}

function overlayPlace(overlay: PlannedOverlay): Place {
	return { kind: 'overlay', path: overlay.path, overlay, reason: overlay.reason };
}

function bindPlaces(binds: readonly Bind[]): Place[] {
	return binds.map(({ target, ...bind }) => ({ kind: 'bind', path: target, ...bind }));
}

/** What nobody asked for by name: home and its parts, and what is mounted below a tree. */
function impliedPlaces(spec: SandboxSpec, named: readonly Place[]): Place[] {
	const overlays = overlaysOf(spec)
		.filter(({ root }) => root.role === 'home')
		.map(overlayPlace);
	const places = [...overlays, ...bindPlaces(submountBinds(spec))];
	return [...homePlaces(spec, [...places, ...named]), ...places];
}

/** What stands for the host's home directory when that is not laid over as a whole. */
function homePlaces(spec: SandboxSpec, others: readonly Place[]): Place[] {
	const form = homeForm(spec);
	if (form === 'bare') return bareHome(spec, others);
	const home = homeRoot(spec);
	if (form !== 'pieces' || home === null) return [];
	const taken = new Set(others.map(({ path }) => path));
	return (spec.homeEntries ?? [])
		.filter(({ kind, layer }) => kind !== 'symlink' && layer === 'untouched')
		.filter(({ name }) => !isCarried(spec, name))
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

/** Whether a file of home is copied into the layer, so that its agent can replace it. */
function isCarried({ homeTools }: SandboxSpec, name: string): boolean {
	return homeTools.some(({ path, directory, owner }) => path === name && !directory && owner === 'agent');
}

function bareHome({ home, reads, roots }: SandboxSpec, others: readonly Place[]): Place[] {
	const covered = roots.some(({ role, path }) => role === 'project' && home !== null && isWithin(home, path));
	if (home === null || reads === 'home' || covered || others.some(({ path }) => path === home)) return [];
	return [{ kind: 'room', path: home, reason: 'an empty home directory (--reads project)' }];
}

/** Whether a path lies in a masked place, with nothing in between that was asked for by name. */
function isHidden(path: string, masks: readonly Mask[], named: readonly Place[]): boolean {
	return masks.some(
		(mask) =>
			isWithin(path, mask.path) &&
			!named.some((place) => isWithin(place.path, mask.path) && isWithin(path, place.path)),
	);
}

function without(masks: readonly Mask[], left: Mask): Mask[] {
	return masks.filter((mask) => mask.path !== left.path);
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

/** Whether what the mask hides would be seen there at all. */
function showsHost(spec: SandboxSpec, mask: Mask, containers: readonly Place[], named: readonly Place[]): boolean {
	if (named.some(({ path }) => path === mask.path)) return false;
	const container = containerOf(mask.path, containers);
	switch (container?.kind) {
		case undefined:
		case 'home-entry':
			return true;
		case 'bind':
			return container.source === container.path || !spec.masks.includes(mask);
		case 'overlay':
			return container.overlay.lowers.includes(container.path);
		default:
			return false;
	}
}

/**
 * Whether connecting to a socket at a path would reach the host: not in a tree of the session, where the inode is the
 * overlay's and the session may put its own socket there, nor in what was bound by request.
 */
function isReached(path: string, containers: readonly Place[], named: readonly Place[]): boolean {
	if (named.some((place) => place.path === path)) return false;
	const container = containerOf(path, containers);
	return (
		container === null || container.kind === 'home-entry' || (container.kind === 'bind' && !named.includes(container))
	);
}

function maskPlace({ path, directory, reason }: Mask, named: readonly Place[]): Place {
	if (named.some((place) => isWithin(place.path, path))) return { kind: 'room', path, reason };
	return { kind: 'mask', path, directory, reason };
}
