import { dirname } from 'node:path';
import { homeForm, homeRoot } from './home-form.ts';
import type { HomeTool, SandboxRoot, SandboxSpec } from './sandbox-spec.ts';

/** One overlay of a plan. */
export interface PlannedOverlay {
	/** Where it is attached. */
	readonly path: string;
	/** Top first; never empty. */
	readonly lowers: readonly string[];
	readonly upper: string;
	readonly work: string;
	/** The tree of the session that the upper directory belongs to. */
	readonly root: SandboxRoot;
	readonly reason: string;
}

/** Every overlay that a spec asks for. Their upper and work directories must exist: {@link makeLayerDirectories}. */
export function overlaysOf(spec: SandboxSpec): PlannedOverlay[] {
	const home = homeRoot(spec);
	return [
		...(home === null ? [] : homeOverlays(spec, home)),
		...spec.roots.filter(({ role }) => role !== 'home').map(plainOverlay),
	];
}

/**
 * The directory that stands in for a host directory that must not be seen: it holds nothing but mount points. It lies beside
 * the upper directory and is made anew before each launch.
 */
export function skeletonPath(root: SandboxRoot): string {
	return `${dirname(root.upper)}/skeleton`;
}

const REASONS = {
	project: 'the project, as the session has it',
	home: 'the home directory, as the session has it',
	gitdir: "the project's git directory, as the session has it",
} as const;

function plainOverlay(root: SandboxRoot): PlannedOverlay {
	const lowers = root.lowers.length > 0 ? root.lowers : [skeletonPath(root)];
	return { path: root.path, lowers, upper: root.upper, work: root.work, root, reason: REASONS[root.role] };
}

function homeOverlays(spec: SandboxSpec, home: SandboxRoot): PlannedOverlay[] {
	const form = homeForm(spec);
	if (form === 'whole') return [plainOverlay(home)];
	const frozen = home.lowers.filter((lower) => lower !== home.path);
	const ground = { ...plainOverlay(home), lowers: [...frozen, skeletonPath(home)], reason: GROUND_REASONS[form] };
	const tools = spec.homeTools.filter(({ directory, owner }) => directory && (form === 'pieces' || owner === 'agent'));
	return [ground, ...tools.map((tool, index) => toolOverlay(home, tool, index))];
}

const GROUND_REASONS = {
	empty: 'an empty home directory (--reads project)',
	pieces: 'the home directory in pieces, because something is mounted below it',
	bare: 'the home directory',
} as const;

function toolOverlay(home: SandboxRoot, tool: HomeTool, index: number): PlannedOverlay {
	return {
		path: `${home.path}/${tool.path}`,
		lowers: tool.lowers,
		upper: `${home.upper}/${tool.path}`,
		work: `${home.work}-${index}`,
		root: home,
		reason: tool.owner === 'agent' ? "an agent's own directory" : "a tool's own directory",
	};
}
