import { amount } from './figure-text.ts';
import type { Result } from './result-file.ts';
import { verdictOf } from './verdict.ts';

/** Slower by both of these is slower; less is noise. */
const SHARE = 1.05;
const MILLISECONDS = 10;

/** A line for each time that is more than 5 % and more than 10 ms above the one of the same name in an earlier result. */
export function slowerThan(earlier: readonly Result[], now: readonly Result[]): string[] {
	const before = new Map(timesOf(earlier));
	return timesOf(now).flatMap(([name, ours]) => {
		const then = before.get(name);
		if (then === undefined || ours <= then * SHARE || ours <= then + MILLISECONDS) return [];
		return [`${name}: ${amount(ours, 'ms')}, was ${amount(then, 'ms')}`];
	});
}

function timesOf(results: readonly Result[]): [string, number][] {
	const times = results.flatMap(({ figures }) => figures).filter(({ unit }) => unit === 'ms');
	return times.map((figure) => [figure.name, verdictOf(figure).ours]);
}
