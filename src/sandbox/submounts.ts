import { isWithin } from '../base/paths.ts';
import type { Bind, SandboxSpec } from './sandbox-spec.ts';

/** Mount points strictly below a directory, without those below another of them. */
export function outermostMountsBelow(path: string, mountPoints: readonly string[]): string[] {
	const below = mountPoints.filter((point) => point !== path && isWithin(point, path));
	return [...new Set(below)].filter((point) => !below.some((other) => other !== point && isWithin(point, other)));
}

/**
 * What is mounted below a tree of the session, shown again, read-only. Only with privileges: an overlay shows nothing of
 * what is mounted below its lower directory, and what the mount covered would come to light. Without privileges the kernel
 * refuses such an overlay.
 */
export function submountBinds(spec: SandboxSpec): Bind[] {
	if (!spec.user.privileged) return [];
	const points = spec.roots.flatMap(({ path, lowers }) =>
		lowers.includes(path) && !(spec.reads === 'project' && path === spec.home)
			? outermostMountsBelow(path, spec.host.mountPoints)
			: [],
	);
	return [...new Set(points)]
		.filter((point) => !spec.roots.some(({ path }) => path === point))
		.map((point) => ({
			source: point,
			target: point,
			directory: true,
			writable: false,
			reason: 'something is mounted here on the host; read-only, because it is no part of the layer',
		}));
}
