import {
	chmodSync,
	chownSync,
	constants,
	copyFileSync,
	lstatSync,
	mkdirSync,
	rmSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';
import { homeForm, homeRoot } from './home-form.ts';
import { overlaysOf, type PlannedOverlay, skeletonPath } from './overlays.ts';
import { containerOf, placesOf } from './places.ts';
import type { SandboxRoot, SandboxSpec } from './sandbox-spec.ts';

/**
 * Makes the directories that the plan's overlays need: upper and work where they are missing, and the skeletons. The root of
 * a new upper directory takes mode, owner and times of what it lies over, because the merged view shows the upper's.
 */
export function makeLayerDirectories(spec: SandboxSpec): void {
	const overlays = overlaysOf(spec);
	for (const overlay of overlays) makeSkeleton(spec, overlay);
	for (const overlay of overlays) {
		makeUpper(overlay);
		mkdirSync(fsPath(overlay.work), { recursive: true, mode: 0o700 });
	}
	carryAgentFiles(spec);
}

/** Makes an upper directory that looks like the directory it lies over, unless it is there. */
export function makeUpperDirectory(upper: string, lower: string): void {
	if (mkdirSync(fsPath(upper), { recursive: true, mode: 0o700 }) !== undefined) takeAttributes(upper, lower);
}

function makeUpper({ upper, lowers, root, path }: PlannedOverlay): void {
	if (path === root.path) {
		makeUpperDirectory(upper, lowers.includes(path) ? path : (lowers[0] ?? path));
		return;
	}
	// A directory of home's layer: each step down to it looks like the host's.
	const parts = path.slice(root.path.length + 1).split('/');
	let step = '';
	for (const part of parts) {
		step += `/${part}`;
		makeUpperDirectory(`${root.upper}${step}`, `${root.path}${step}`);
	}
}

function takeAttributes(path: string, from: string): void {
	const stat = lstatSync(fsPath(from), { throwIfNoEntry: false });
	if (stat === undefined) return;
	try {
		chownSync(fsPath(path), stat.uid, stat.gid);
	} catch (error) {
		// An ordinary user cannot give away what is not theirs; the directory then is the user's own.
		if (errorCode(error) !== 'EPERM') throw error;
	}
	chmodSync(fsPath(path), stat.mode & 0o7777);
	utimesSync(fsPath(path), stat.atimeMs / 1000, stat.mtimeMs / 1000);
}

/** The stand-in for a host directory that must not be seen: empty but for the mount points that are needed in it. */
function makeSkeleton(spec: SandboxSpec, { root, lowers, path }: PlannedOverlay): void {
	const skeleton = skeletonPath(root);
	if (!lowers.includes(skeleton)) return;
	rmSync(fsPath(skeleton), { recursive: true, force: true });
	mkdirSync(fsPath(skeleton), { recursive: true, mode: 0o755 });
	if (root.role === 'home') fillHomeSkeleton(spec, root, skeleton);
	takeAttributes(skeleton, path);
}

function fillHomeSkeleton(spec: SandboxSpec, home: SandboxRoot, skeleton: string): void {
	const places = placesOf(spec);
	for (const place of places) {
		if (place.path === home.path || containerOf(place.path, places)?.path !== home.path) continue;
		makeMountPoint(
			home,
			skeleton,
			place.path,
			place.kind === 'bind' || place.kind === 'mask' ? place.directory : isDirectoryOnHost(place.path),
		);
	}
	for (const { path, target } of spec.links) {
		if (containerOf(path, places)?.path === home.path) makeLink(home, skeleton, path, target);
	}
	for (const { name, kind, target, layer } of spec.homeEntries ?? []) {
		if (kind === 'symlink' && layer === 'untouched' && target !== null)
			symlinkSync(fsPath(target), fsPath(`${skeleton}/${name}`));
	}
}

function isDirectoryOnHost(path: string): boolean {
	return lstatSync(fsPath(path), { throwIfNoEntry: false })?.isDirectory() !== false;
}

function makeMountPoint(home: SandboxRoot, skeleton: string, path: string, directory: boolean): void {
	const at = skeleton + path.slice(home.path.length);
	mkdirSync(fsPath(directory ? at : at.slice(0, at.lastIndexOf('/'))), { recursive: true, mode: 0o755 });
	if (!directory) writeFileSync(fsPath(at), '', { mode: 0o644 });
}

function makeLink(home: SandboxRoot, skeleton: string, path: string, target: string): void {
	const at = skeleton + path.slice(home.path.length);
	mkdirSync(fsPath(at.slice(0, at.lastIndexOf('/'))), { recursive: true, mode: 0o755 });
	symlinkSync(fsPath(target), fsPath(at));
}

/**
 * Settings files of agents that lie in home itself, where home is not laid over as a whole: copied into the layer once, so
 * that the agent finds them and may replace them.
 */
function carryAgentFiles(spec: SandboxSpec): void {
	const home = homeRoot(spec);
	if (home === null || homeForm(spec) === 'whole') return;
	for (const { path, directory, owner, lowers } of spec.homeTools) {
		const [source] = lowers;
		const copy = `${home.upper}/${path}`;
		if (directory || owner !== 'agent' || source === undefined) continue;
		if (lstatSync(fsPath(copy), { throwIfNoEntry: false }) !== undefined) continue;
		copyFileSync(fsPath(source), fsPath(copy), constants.COPYFILE_EXCL);
		takeAttributes(copy, source);
	}
}
