import { lstatSync } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { isWithin } from '../base/paths.ts';
import type { SandboxRoot } from './sandbox-spec.ts';

/** What a layer has at a path: nothing of its own, the path is not there any more, or an entry of this kind. */
export type LayerState = 'untouched' | 'gone' | 'directory' | 'symlink' | 'other';

/**
 * What the session's layers say of an absolute path. Reads the upper directory step by step and follows nothing: an agent
 * wrote what is in it. An opaque directory is not recognised (that takes an extended attribute); a path below one counts as
 * untouched.
 */
export function layerState(roots: readonly SandboxRoot[], path: string): LayerState {
	const root = innermostRoot(roots, path);
	if (root === null || path === root.path) return 'untouched';
	const parts = path.slice(root.path === '/' ? 1 : root.path.length + 1).split('/');
	let at = root.upper;
	for (const [index, part] of parts.entries()) {
		at += `/${part}`;
		const stat = lstatSync(fsPath(at), { throwIfNoEntry: false });
		if (stat === undefined) return 'untouched';
		if (stat.isCharacterDevice() && stat.rdev === 0) return 'gone';
		if (index < parts.length - 1) {
			if (!stat.isDirectory()) return 'gone';
		} else if (stat.isDirectory()) return 'directory';
		else return stat.isSymbolicLink() ? 'symlink' : 'other';
	}
	return 'untouched';
}

function innermostRoot(roots: readonly SandboxRoot[], path: string): SandboxRoot | null {
	let best: SandboxRoot | null = null;
	for (const root of roots) {
		if (isWithin(path, root.path) && (best === null || root.path.length > best.path.length)) best = root;
	}
	return best;
}
