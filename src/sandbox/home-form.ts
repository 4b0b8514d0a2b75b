import { isWithin } from '../base/paths.ts';
import type { SandboxRoot, SandboxSpec } from './sandbox-spec.ts';

/**
 * How the home directory is shown:
 * - `whole`: one overlay over all of it;
 * - `empty`: an overlay over nothing, with the agents' own directories in it (`--reads project`);
 * - `pieces`: a mount lies below it and the kernel refuses one overlay, so each known directory gets its own and the rest is
 *   read-only;
 * - `bare`: no layer; as the host has it, read-only, or an empty private directory with `--reads project`.
 */
export type HomeForm = 'whole' | 'empty' | 'pieces' | 'bare';

/** The form that home takes under a spec. */
export function homeForm(spec: Pick<SandboxSpec, 'roots' | 'home' | 'reads' | 'homeEntries'>): HomeForm {
	if (homeRoot(spec) === null) return 'bare';
	if (spec.reads === 'project') return 'empty';
	return spec.homeEntries === null ? 'whole' : 'pieces';
}

/** The home layer, or null when there is none or when the project covers all of home. */
export function homeRoot(spec: Pick<SandboxSpec, 'roots' | 'home'>): SandboxRoot | null {
	const root = spec.roots.find(({ role }) => role === 'home');
	if (root === undefined || spec.home === null) return null;
	const project = spec.roots.find(({ role }) => role === 'project');
	return project !== undefined && isWithin(root.path, project.path) ? null : root;
}
