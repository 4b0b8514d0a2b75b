import { isWithin } from '../base/paths.ts';
import { isMasked } from './masks.ts';
import { realPath } from './real-path.ts';
import type { Bind, HostFacts, Mask, SandboxSpec } from './sandbox-spec.ts';

/** What decides which places must be shown again. */
export interface KeptRequest extends Pick<SandboxSpec, 'roots' | 'home' | 'reads'> {
	readonly installed: readonly string[];
	readonly masks: readonly Mask[];
	readonly binds: readonly Bind[];
	readonly host: Pick<HostFacts, 'covers'>;
}

/**
 * Files of the host that programs cannot do without although they lie in a place that is private to a run: the name servers'
 * file, the running system of NixOS, and dropcloth itself. Read-only.
 */
export function keptBinds(request: KeptRequest): Bind[] {
	const own = request.installed.map((path) => ({ path, reason: 'dropcloth itself' }));
	const kept = [
		...found(SYSTEM_PLACES).filter(({ path }) => !isMasked(path, request.masks) && isHidden(request, path)),
		...found(own).filter(({ path }) => isMasked(path, request.masks) || isHidden(request, path)),
	];
	const outermost = kept.filter(({ path }) => !kept.some((other) => other.path !== path && isWithin(path, other.path)));
	const byPath = new Map(outermost.map((place) => [place.path, place]));
	return [...byPath.values()].map(({ path, directory, reason }) => ({
		source: path,
		target: path,
		directory,
		writable: false,
		reason,
		optional: true,
	}));
}

const SYSTEM_PLACES = [
	{ path: '/etc/resolv.conf', reason: 'where to ask for names on the network' },
	{ path: '/run/current-system', reason: "the running system's programs" },
	{ path: '/run/wrappers', reason: "the running system's programs" },
	{ path: '/run/opengl-driver', reason: "the running system's libraries" },
];

type Place = Pick<Bind, 'directory' | 'reason'> & { readonly path: string };

function found(places: readonly { readonly path: string; readonly reason: string }[]): Place[] {
	return places.flatMap(({ path, reason }) => {
		const real = realPath(path);
		return real === null ? [] : [{ ...real, reason }];
	});
}

/** Whether a path of the host would not be seen: it lies in a place that is made anew. */
export function isHidden(
	{ roots, home, reads, binds, host }: Omit<KeptRequest, 'installed' | 'masks'>,
	path: string,
): boolean {
	const shown = roots.some((root) => isWithin(path, root.path) && !(root.role === 'home' && reads === 'project'));
	if (shown || binds.some(({ target }) => isWithin(path, target))) return false;
	if (home !== null && reads === 'project' && isWithin(path, home)) return true;
	return host.covers.some((cover) => isWithin(path, cover));
}
