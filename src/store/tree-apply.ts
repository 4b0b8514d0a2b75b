import type { Change } from '../base/change.ts';
import { sameInode } from '../base/inode.ts';
import { type PlannedEntry, type PlannedInode, planApply } from './apply-plan.ts';
import type { Staged, StagedContent } from './ingest.ts';
import { fromInodeRow } from './inode-row.ts';
import { fromSqlName } from './sql-name.ts';
import type { TreeParts } from './tree-parts.ts';
import type { TreeWrite } from './tree-write.ts';

/** How much of the present really changed. */
export interface AppliedCount {
	readonly entries: number;
	readonly inodes: number;
}

/**
 * Makes changes to one tree, as one whole: their order does not matter. Nothing is written for what is equal already (atime
 * and ctime aside), so that it makes no version. Removing a directory removes all that it holds.
 *
 * Throws PosixError ENOENT or ENOTDIR for a path whose directory is missing, EINVAL for a name that cannot be one.
 */
export function applyChanges(
	parts: TreeParts,
	write: TreeWrite,
	root: number,
	changes: readonly Change[],
	staged: Staged,
): AppliedCount {
	const { inodes, entries } = planApply(write, root, changes, () => parts.head.takeIno());
	const contents = new Map(inodes.map((inode) => [inode, contentFor(write, inode, staged)]));
	const links = writeEntries(write, entries);
	let changed = 0;
	for (const inode of inodes) {
		const delta = links.get(inode.ino) ?? 0;
		links.delete(inode.ino);
		if (writeInode(write, root, inode, delta, contents.get(inode) ?? null)) changed += 1;
	}
	for (const [ino, delta] of links) if (delta !== 0) write.addLinks(ino, delta);
	return { entries: entries.length, inodes: changed };
}

/** Writes the names and gives how many each inode gained or lost. */
function writeEntries(write: TreeWrite, entries: readonly PlannedEntry[]): Map<number, number> {
	const links = new Map<number, number>();
	const count = (ino: number | null, by: number) => {
		if (ino !== null && ino !== 0) links.set(ino, (links.get(ino) ?? 0) + by);
	};
	for (const { parent, name, before, after } of entries) {
		if (after === null) write.deleteEntry(parent, name);
		else write.setEntry(parent, name, after);
		count(before, -1);
		count(after, 1);
	}
	return links;
}

/** The new chunks of a file; null when it keeps those that it has. Asked before anything is written. */
function contentFor(write: TreeWrite, inode: PlannedInode, staged: Staged): StagedContent | null {
	if (inode.after.kind !== 'file') return null;
	for (const { content } of inode.changes) {
		if (content === null) continue;
		const found = staged.of(content);
		if (found === null) throw new Error(`content of ${inode.changes[0]?.path} was not staged`);
		return found;
	}
	const size = inode.after.size;
	if (inode.row !== null) {
		if (inode.row[7] !== size) throw new Error(`${inode.changes[0]?.path} has another size but no new content`);
		return null;
	}
	if (size === 0) return { size, chunks: [] };
	if (inode.contentOf === null || write.row(inode.contentOf, 'apply', null)[7] !== size) {
		throw new Error(`${inode.changes[0]?.path} is new but has no content`);
	}
	return write.content.share(inode.contentOf, size);
}

function writeInode(
	write: TreeWrite,
	root: number,
	{ ino, row, after }: PlannedInode,
	links: number,
	content: StagedContent | null,
): boolean {
	if (row === null) {
		write.insertInode(ino, root, after, links);
		if (content !== null) write.content.fill(ino, content);
		return true;
	}
	const replaced = content !== null && write.replaceContent(row, content);
	const xattrs = new Map(write.rows.xattrs(ino).map(([name, value]) => [fromSqlName(name), value]));
	if (!replaced && links === 0 && sameInode(fromInodeRow(row, xattrs), after)) return false;
	return write.updateInode(row, after, row[4] + links) || replaced;
}
