import type { Figure, Goal } from './benchmark.ts';

/** What the samples of a figure come to. */
export interface Verdict {
	/** Medians, in the figure's unit. */
	readonly ours: number;
	readonly theirs: number | null;
	/** Median of ours divided by theirs, pair by pair. */
	readonly ratio: number | null;
	/** What is compared with the goal: our median, the extra or the ratio. */
	readonly reached: number;
	readonly passed: boolean;
}

/** Compares a figure with its goal. Throws for a goal that needs pairs and has none. */
export function verdictOf({ name, ours, theirs, goal }: Figure): Verdict {
	if (ours.length === 0 || (theirs !== null && theirs.length !== ours.length))
		throw new Error(`${name}: ${ours.length} samples of ours, ${theirs?.length} of theirs`);
	const ratios = theirs?.map((their, pair) => (ours[pair] as number) / their);
	const ratio = ratios === undefined ? null : median(ratios);
	const reached = reachedBy(goal, ours, theirs, ratio);
	return {
		ours: median(ours),
		theirs: theirs === null ? null : median(theirs),
		ratio,
		reached,
		passed: reached <= goal.value,
	};
}

/** The middle one, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
	const sorted = values.toSorted((a, b) => a - b);
	const middle = (sorted.length - 1) / 2;
	return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle)] as number)) / 2;
}

function reachedBy(
	goal: Goal,
	ours: readonly number[],
	theirs: readonly number[] | null,
	ratio: number | null,
): number {
	if (goal.kind === 'at most') return median(ours);
	if (theirs === null || ratio === null)
		throw new Error(`a goal of kind '${goal.kind}' needs something to compare with`);
	return goal.kind === 'ratio' ? ratio : median(theirs.map((their, pair) => (ours[pair] as number) - their));
}
