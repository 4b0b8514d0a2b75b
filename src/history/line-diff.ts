import { diffArrays } from 'diff';

/** A run of lines that was replaced: lines `oldStart` to `oldEnd` (not included) by `newStart` to `newEnd`; from 0. */
export interface LineChange {
	readonly oldStart: number;
	readonly oldEnd: number;
	readonly newStart: number;
	readonly newEnd: number;
}

/**
 * Edits beyond which the shortest script is no longer looked for: the search takes time with the square of it, about a
 * quarter of a second here. Then everything between the common head and tail counts as replaced, which is as true.
 */
const MAX_EDITS = 2_000;

/** The lines of a text, each with its newline, where it has one. */
export function splitLines(text: string): string[] {
	return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The runs in which two lists of lines differ, in order; lines between them are equal. Bounded effort. */
export function diffLines(oldLines: readonly string[], newLines: readonly string[]): LineChange[] {
	const head = commonHead(oldLines, newLines);
	const tail = commonTail(oldLines, newLines, head);
	const oldEnd = oldLines.length - tail;
	const newEnd = newLines.length - tail;
	if (head === oldEnd && head === newEnd) return [];
	const whole = { oldStart: head, oldEnd, newStart: head, newEnd };
	if (head === oldEnd || head === newEnd) return [whole];
	const parts = diffArrays(oldLines.slice(head, oldEnd), newLines.slice(head, newEnd), { maxEditLength: MAX_EDITS });
	return parts === undefined ? [whole] : changesOf(parts, head);
}

function changesOf(parts: readonly { count: number; added: boolean; removed: boolean }[], head: number): LineChange[] {
	const changes: LineChange[] = [];
	let [oldAt, newAt] = [head, head];
	let [oldStart, newStart] = [head, head];
	for (const { count, added, removed } of parts) {
		if (added || removed) {
			if (removed) oldAt += count;
			else newAt += count;
			continue;
		}
		if (oldAt > oldStart || newAt > newStart) changes.push({ oldStart, oldEnd: oldAt, newStart, newEnd: newAt });
		oldAt += count;
		newAt += count;
		[oldStart, newStart] = [oldAt, newAt];
	}
	if (oldAt > oldStart || newAt > newStart) changes.push({ oldStart, oldEnd: oldAt, newStart, newEnd: newAt });
	return changes;
}

function commonHead(a: readonly string[], b: readonly string[]): number {
	let count = 0;
	while (count < a.length && count < b.length && a[count] === b[count]) count += 1;
	return count;
}

function commonTail(a: readonly string[], b: readonly string[], head: number): number {
	let count = 0;
	while (count < a.length - head && count < b.length - head && a.at(-1 - count) === b.at(-1 - count)) count += 1;
	return count;
}
