import type { Content } from '../base/change.ts';
import type { Inode, Time } from '../base/inode.ts';
import { snapshotsBackFrom } from '../history/log.ts';
import { Origins } from '../store/origins.ts';
import type { Store } from '../store/store.ts';
import { MergedView } from '../vfs/merged-view.ts';
import { executableSurface, type SurfaceChange, type SurfaceEntry } from './executable-surface.ts';
import { type PlanOptions, planTarget, type TargetPlan } from './merge-plan.ts';
import { selectPaths } from './select-paths.ts';
import { type HostedRoot, startingPoints } from './starting-points.ts';

/** What a user asks of an apply. */
export interface ApplyRequest {
	/** The snapshot that is applied. The caller takes one of the present first. */
	readonly snapshot: number;
	/** What happens to paths that both sides changed and that cannot be merged; default `ask`: they are conflicts. */
	readonly resolve?: PlanOptions['resolve'];
	/** Globs below the project; with any, nothing else is applied, and no git directory elsewhere. */
	readonly only?: readonly string[];
	/** The time that merged files get. */
	readonly now: Time;
}

/** One tree's part of the plan. */
export interface PlannedTree extends HostedRoot {
	readonly plan: TargetPlan;
}

/** What an apply would do. */
export interface ApplyPlan {
	readonly snapshot: number;
	readonly trees: readonly PlannedTree[];
}

/** The plan as `apply --json` gives it. */
export interface ApplySummary {
	/** Paths written, merged ones and directories included. */
	readonly applied: number;
	readonly removed: number;
	readonly merged: number;
	readonly conflicts: readonly { readonly root: string; readonly path: string; readonly reason: string }[];
	readonly executableSurface: readonly SurfaceEntry[];
	readonly dryRun: boolean;
}

/**
 * Plans an apply; the same for a dry run and for the real thing. Writes nothing. Throws Refusal `usage` for a bad glob,
 * PosixError when a file of either side cannot be read.
 */
export function planApply(store: Store, hosted: readonly HostedRoot[], request: ApplyRequest): ApplyPlan {
	const { snapshot, resolve = 'ask', only = [], now } = request;
	const options = { resolve, selects: selectPaths(only), now };
	const chosen = only.length === 0 ? hosted : hosted.filter(({ root }) => root.role === 'project');
	return { snapshot, trees: chosen.map((tree) => ({ ...tree, plan: planTree(store, snapshot, tree, options) })) };
}

/** What to show of a plan before it is written, and to print after. */
export function summarizeApply({ trees }: ApplyPlan, dryRun: boolean): ApplySummary {
	const changes = trees.flatMap(({ plan }) => plan.changes);
	return {
		applied: changes.filter(({ after }) => after !== null).length,
		removed: changes.filter(({ after }) => after === null).length,
		merged: trees.reduce((sum, { plan }) => sum + plan.merged.size, 0),
		conflicts: trees.flatMap(({ root, plan }) => plan.conflicts.map((conflict) => ({ root: root.role, ...conflict }))),
		executableSurface: executableSurface(trees.flatMap(surfaceChanges)),
		dryRun,
	};
}

/** Whether an apply has nothing to write. */
export function isNothingToApply({ trees }: ApplyPlan): boolean {
	return trees.every(({ plan }) => plan.changes.length === 0 && plan.conflicts.length === 0);
}

function planTree(store: Store, snapshot: number, tree: HostedRoot, options: PlanOptions): TargetPlan {
	const origins = new Origins(store);
	const ours = new MergedView(store.tree.at(snapshot), tree.root.ino, tree.host);
	const target = {
		theirs: new MergedView(null, tree.root.ino, tree.host),
		ours,
		candidates: ours.layerPaths(),
		startOf: startingPoints(store, origins, snapshot, tree),
		firstRoot: firstRootOf(store, snapshot, tree),
		originContent: (origin: Parameters<Origins['content']>[0]) => origins.content(origin),
	};
	return planTarget(target, options);
}

function firstRootOf(store: Store, snapshot: number, { root }: HostedRoot): Inode | null {
	const first = snapshotsBackFrom(store.snapshots, snapshot).findLast(({ id }) => store.tree.at(id).has(root.ino));
	return first === undefined ? null : store.tree.at(first.id).inode(root.ino);
}

function surfaceChanges({ root, host, plan }: PlannedTree): SurfaceChange[] {
	const role = root.role === 'saved' ? 'project' : root.role;
	return plan.changes.map(({ path, before, after, content }) => {
		const readBefore = (): Content | null => (before?.kind === 'file' ? host.content(path, before.size) : null);
		return {
			path,
			role,
			before,
			after,
			readBefore,
			readAfter: () => (after?.kind === 'file' ? (content ?? readBefore()) : null),
		};
	});
}
