import { randomBytes } from 'node:crypto';
import { bringInLine } from '../layer/lay-out.ts';
import { spareOccupied } from '../layer/spare-occupied.ts';
import { isLayerRole } from './kernel-live.ts';
import { hasLayerRoot, type LayerRole, upperPath } from './layer-place.ts';
import type { LiveRun } from './live-run.ts';
import { LiveView } from './live-view.ts';
import type { RestoreOutcome } from './restore-session.ts';
import type { RootChanges } from './root-changes.ts';
import { SessionViews } from './session-views.ts';
import { unversionedIn } from './unversioned.ts';
import { directoriesAround, viewChanges, withContents } from './view-changes.ts';

/** What was written into a running session's trees. */
export interface WrittenTrees {
	/** What could not be touched. */
	readonly kept: RestoreOutcome['kept'];
	/** What ended the writing before it was whole. */
	readonly failure: { readonly cause: unknown } | null;
}

/**
 * Makes the readers inside see a snapshot, with everything inside standing still and taken in. `changes` is how the rows of
 * the trees differ from it.
 */
export function writeLiveTrees(
	run: LiveRun,
	init: number,
	target: number,
	changes: readonly RootChanges[],
): WrittenTrees {
	const views = new SessionViews(run.session.store);
	const kept: WrittenTrees['kept'][number][] = [];
	try {
		for (const tree of changes) {
			const { role } = tree.root;
			if (!isLayerRole(role) || tree.changes.length === 0) continue;
			const seenAt = run.facts.seenAt.get(role);
			if (seenAt === undefined) writeUnseen(run, tree, role);
			else {
				using view = LiveView.open(init, seenAt);
				const paths = writeTree(run, views, tree, target, view, role);
				kept.push(...paths.map((path) => ({ root: tree.root, path })));
			}
		}
		return { kept, failure: null };
	} catch (cause) {
		return { kept, failure: { cause } };
	} finally {
		views.close();
	}
}

/** A tree that this run does not show is mounted nowhere. */
function writeUnseen({ layer }: LiveRun, { changes }: RootChanges, role: LayerRole): void {
	if (!hasLayerRoot(layer.place, role)) return;
	bringInLine(changes, upperPath(layer.place, role), layer.memories.get(role) ?? null, unversionedIn(role));
}

/** Returns the paths that could not be touched. */
function writeTree(
	{ copied, joined }: LiveRun,
	views: SessionViews,
	{ root, changes }: RootChanges,
	target: number,
	view: LiveView,
	role: LayerRole,
): string[] {
	const [from, to] = [views.at(root, 'now'), views.at(root, target)];
	const isUnversioned = unversionedIn(role) ?? (() => false);
	const wanted = viewChanges(from, to, changes).filter(({ path }) => !isUnversioned(path));
	const covered = wanted.map(({ path }) => path).filter((path) => view.isCovered(path));
	const { changes: possible, kept } = spareOccupied(
		wanted.filter(({ path }) => !view.isCovered(path)),
		view.tree,
	);
	const complete = withContents(possible, to);
	const all = [...complete, ...directoriesAround(complete, from, to)];
	const copies = all.map(({ path }) => path).filter((path) => to.place(path)?.ino === null);
	copied.set(root.ino, new Set([...(copied.get(root.ino) ?? []), ...copies]));
	view.tree.apply(all, {
		durable: false,
		isOpen: view.whatIsOpen(joined.list.map(({ pid }) => pid)),
		owner: 'possible',
		token: randomBytes(8).toString('hex'),
	});
	return [...covered, ...kept];
}
