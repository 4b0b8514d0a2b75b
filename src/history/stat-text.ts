import type { MergedView } from '../vfs/merged-view.ts';
import { readContent } from '../vfs/read-content.ts';
import type { DiffEntry } from './diff.ts';
import { diffLines, splitLines } from './line-diff.ts';
import { isText, TEXT_BYTES } from './patch.ts';

/** How many lines of a path came and went; for what is not compared by line, null. */
export interface LineCounts {
	readonly added: number;
	readonly removed: number;
}

/** The summary of a diff, one line per path, as `git diff --stat` has it: nothing is cut, deletions stay first. */
export function statText(
	entries: readonly DiffEntry[],
	from: MergedView,
	to: MergedView,
	showPath: (path: string) => string,
	widthColumns = 80,
): string {
	const rows = entries.map((entry) => ({
		name: nameOf(entry, showPath),
		entry,
		counts: countLines(entry, from, to),
	}));
	if (rows.length === 0) return '';
	const nameColumns = Math.max(...rows.map(({ name }) => name.length));
	const most = Math.max(0, ...rows.map(({ counts }) => (counts === null ? 0 : counts.added + counts.removed)));
	const numberColumns = String(most).length;
	const barColumns = Math.max(10, widthColumns - nameColumns - numberColumns - 5);
	const scale = most > barColumns ? barColumns / most : 1;
	const lines = rows.map(({ name, entry, counts }) => {
		const what =
			counts === null ? wordsFor(entry) : `${String(sum(counts)).padStart(numberColumns)} ${bar(counts, scale)}`;
		return ` ${name.padEnd(nameColumns)} | ${what}`.trimEnd();
	});
	return [...lines, totalLine(rows.map(({ counts }) => counts))].map((line) => `${line}\n`).join('');
}

/** The lines that differ at one path; null for directories, special files, binary and very large ones. */
export function countLines(entry: DiffEntry, from: MergedView, to: MergedView): LineCounts | null {
	const before = textAt(from, entry.fromPath ?? entry.path);
	const after = textAt(to, entry.path);
	if (before === null || after === null) return null;
	let [added, removed] = [0, 0];
	for (const { oldStart, oldEnd, newStart, newEnd } of diffLines(splitLines(before), splitLines(after))) {
		added += newEnd - newStart;
		removed += oldEnd - oldStart;
	}
	return { added, removed };
}

/** The text of a file; empty where nothing is; null for anything else. */
function textAt(view: MergedView, path: string): string | null {
	const inode = view.stat(path);
	if (inode === null) return '';
	if (inode.kind !== 'file' || inode.size > TEXT_BYTES) return null;
	const data = readContent(view.content(path));
	return isText(data) ? data.toString('latin1') : null;
}

function nameOf({ path, fromPath, kind }: DiffEntry, showPath: (path: string) => string): string {
	const shown = kind === 'directory' ? `${showPath(path)}/` : showPath(path);
	return fromPath === undefined ? shown : `${showPath(fromPath)} => ${shown}`;
}

function wordsFor({ change, kind, oldSize, size }: DiffEntry): string {
	return kind === 'file' ? `Bin ${oldSize ?? 0} -> ${size ?? 0} bytes` : `${change} ${kind}`;
}

function bar({ added, removed }: LineCounts, scale: number): string {
	const signs = (count: number) => (count === 0 ? 0 : Math.max(1, Math.floor(count * scale)));
	return '+'.repeat(signs(added)) + '-'.repeat(signs(removed));
}

function totalLine(all: readonly (LineCounts | null)[]): string {
	const added = all.reduce((total, counts) => total + (counts?.added ?? 0), 0);
	const removed = all.reduce((total, counts) => total + (counts?.removed ?? 0), 0);
	const parts = [`${all.length} path${all.length === 1 ? '' : 's'} changed`];
	if (added > 0) parts.push(`${added} line${added === 1 ? '' : 's'} added(+)`);
	if (removed > 0) parts.push(`${removed} line${removed === 1 ? '' : 's'} removed(-)`);
	return ` ${parts.join(', ')}`;
}

function sum({ added, removed }: LineCounts): number {
	return added + removed;
}
