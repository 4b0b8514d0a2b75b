import { isWithin } from '../base/paths.ts';
import { CREDENTIAL_PLACES } from '../sandbox/credential-places.ts';
import { findGitDirectory } from '../sandbox/git-directory.ts';
import { realPath } from '../sandbox/real-path.ts';
import type { SandboxRoot } from '../sandbox/sandbox-spec.ts';
import type { LayerRole, LayerRoot } from './layer-place.ts';

/** The trees that a run needs: the project, the home directory, and a git directory that lies outside the project. */
export function wantedRoots(basePath: string | null, home: string | null, storePath: string): LayerRoot[] {
	const roots: LayerRoot[] = [{ role: 'project', basePath }];
	const homePath = home === null ? null : realPath(home);
	if (
		homePath?.directory === true &&
		homePath.path !== '/' &&
		(basePath === null || !isWithin(homePath.path, basePath))
	) {
		roots.push({ role: 'home', basePath: homePath.path });
	}
	const gitDir = basePath === null ? null : findGitDirectory(basePath, forbiddenPlaces(home, storePath));
	if (gitDir !== null) roots.push({ role: 'gitdir', basePath: gitDir });
	return roots;
}

/** The host directory beneath the project; null for a session without a base. */
export function projectBaseOf(roots: readonly LayerRoot[]): string | null {
	return roots.find(({ role }) => role === 'project')?.basePath ?? null;
}

/** The same trees as the sandbox takes them. */
export function sandboxRoots(
	sessionId: string,
	roots: readonly LayerRoot[],
	directories: (role: LayerRole) => { upper: string; work: string },
): SandboxRoot[] {
	return roots.map(({ role, basePath }) => ({
		role,
		path: basePath ?? `/run/dropcloth/${sessionId}`,
		lowers: basePath === null ? [] : [basePath],
		...directories(role),
	}));
}

/** Where a git directory that a project names must not lie: laying it over would uncover what is masked. */
function forbiddenPlaces(home: string | null, storePath: string): string[] {
	const places = CREDENTIAL_PLACES.flatMap(({ path }) =>
		path.startsWith('/') ? [path] : home === null ? [] : [`${home}/${path}`],
	);
	return [storePath, ...places];
}
