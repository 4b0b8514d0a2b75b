/** Samples of two things, taken in turn, so that what else the machine does falls on both alike. */
export interface Pairs {
	readonly ours: number[];
	readonly theirs: number[];
}

/** Takes `count` pairs after `warmUps` that are thrown away. Each sample is what its function gives. */
export async function paired(
	count: number,
	ours: (round: number) => number | Promise<number>,
	theirs: (round: number) => number | Promise<number>,
	warmUps = 1,
): Promise<Pairs> {
	const pairs: Pairs = { ours: [], theirs: [] };
	for (let round = 0; round < warmUps + count; round++) {
		const our = await ours(round);
		const their = await theirs(round);
		if (round < warmUps) continue;
		pairs.ours.push(our);
		pairs.theirs.push(their);
	}
	return pairs;
}

/** Milliseconds that a step takes. */
export function timed(step: () => unknown): number {
	const began = performance.now();
	step();
	return performance.now() - began;
}
