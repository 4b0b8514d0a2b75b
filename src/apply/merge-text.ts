import { diff3Merge } from 'node-diff3';
import { splitLines } from '../history/line-diff.ts';
import { isText } from '../history/patch.ts';

/** What came of merging three texts: the merged bytes, or why it can't be done by line. */
export type TextMerge = { readonly merged: Buffer } | { readonly conflict: string };

/**
 * Pairs of equal lines up to which a merge is tried: the matching looks at each, so two files of the same blank line
 * fifty thousand times would take minutes.
 */
const MAX_LINE_PAIRS = 20_000_000;

/** Merges by line what both sides made of one base. Both having made the same change is no conflict. */
export function mergeText(base: Buffer, ours: Buffer, theirs: Buffer): TextMerge {
	if (![base, ours, theirs].every(isText)) return { conflict: 'both changed it, and it is not text' };
	const [oldLines, ourLines, theirLines] = [linesOf(base), linesOf(ours), linesOf(theirs)];
	if (linePairs(oldLines, ourLines) + linePairs(oldLines, theirLines) > MAX_LINE_PAIRS) {
		return { conflict: 'both changed it, and it is too large to merge by line' };
	}
	const regions = diff3Merge(ourLines, oldLines, theirLines, { excludeFalseConflicts: true });
	const conflicts = regions.filter(({ conflict }) => conflict !== undefined).length;
	if (conflicts > 0) {
		return { conflict: `both changed the same lines (${conflicts} place${conflicts === 1 ? '' : 's'})` };
	}
	return { merged: Buffer.from(regions.flatMap(({ ok }) => ok ?? []).join(''), 'latin1') };
}

/** Latin-1, so that any bytes go through unchanged. */
function linesOf(data: Buffer): string[] {
	return splitLines(data.toString('latin1'));
}

function linePairs(a: readonly string[], b: readonly string[]): number {
	const counts = new Map<string, number>();
	for (const line of a) counts.set(line, (counts.get(line) ?? 0) + 1);
	return b.reduce((sum, line) => sum + (counts.get(line) ?? 0), 0);
}
