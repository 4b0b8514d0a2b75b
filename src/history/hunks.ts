import { diffLines, type LineChange } from './line-diff.ts';

/** Unchanged lines shown around a change. */
const CONTEXT_LINES = 3;

/** The hunks of a unified diff of two lists of lines, as text; empty when they are equal. */
export function hunksText(oldLines: readonly string[], newLines: readonly string[]): string {
	return groups(diffLines(oldLines, newLines))
		.map((changes) => hunkText(changes, oldLines, newLines))
		.join('');
}

/** Changes whose context would touch belong to one hunk. */
function groups(changes: readonly LineChange[]): LineChange[][] {
	const grouped: LineChange[][] = [];
	for (const change of changes) {
		const last = grouped.at(-1);
		const gap = change.oldStart - (last?.at(-1)?.oldEnd ?? Number.NEGATIVE_INFINITY);
		if (last !== undefined && gap <= 2 * CONTEXT_LINES) last.push(change);
		else grouped.push([change]);
	}
	return grouped;
}

function hunkText(changes: readonly LineChange[], oldLines: readonly string[], newLines: readonly string[]): string {
	const first = changes[0];
	const last = changes.at(-1);
	if (first === undefined || last === undefined) throw new Error('a hunk has at least one change');
	const lead = Math.min(CONTEXT_LINES, first.oldStart);
	const trail = Math.min(CONTEXT_LINES, oldLines.length - last.oldEnd);
	const oldRange = range(first.oldStart - lead, last.oldEnd + trail);
	const newRange = range(first.newStart - lead, last.newEnd + trail);
	let text = `@@ -${oldRange} +${newRange} @@\n`;
	let at = first.oldStart - lead;
	for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
		text += marked(' ', oldLines, at, oldStart);
		text += marked('-', oldLines, oldStart, oldEnd);
		text += marked('+', newLines, newStart, newEnd);
		at = oldEnd;
	}
	return text + marked(' ', oldLines, at, last.oldEnd + trail);
}

/** Lines are numbered from 1; an empty range names the line before it. */
function range(start: number, end: number): string {
	const count = end - start;
	if (count === 1) return `${start + 1}`;
	return `${count === 0 ? start : start + 1},${count}`;
}

function marked(mark: string, lines: readonly string[], start: number, end: number): string {
	let text = '';
	for (const line of lines.slice(start, end)) {
		text += line.endsWith('\n') ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`;
	}
	return text;
}
