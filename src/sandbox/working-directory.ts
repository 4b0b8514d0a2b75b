import { isWithin } from '../base/paths.ts';
import { layerState } from './layer-state.ts';
import type { SandboxRoot } from './sandbox-spec.ts';

/** Where a command starts inside that was started at an absolute path outside: there, or else in the project's root. */
export function workingDirectory(roots: readonly SandboxRoot[], cwd: string): string {
	const project = roots.find(({ role }) => role === 'project');
	if (project === undefined) throw new Error('a sandbox without a project');
	if (!isWithin(cwd, project.path)) return project.path;
	const state = layerState(roots, cwd);
	return state === 'untouched' || state === 'directory' ? cwd : project.path;
}
