const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as 500ms, 1.5s, 30m, 12h or 7d, in milliseconds. Throws an Error that says what is wrong. */
export function parseDurationMs(text: string): number {
	const match = /^(\d{1,9}(?:\.\d{1,6})?)(ms|[smhd])$/.exec(text);
	const unit = UNIT_MS[match?.[2] ?? ''];
	if (match === null || unit === undefined) {
		throw new Error(`${text} is not a duration such as 500ms, 90s, 30m, 12h or 7d`);
	}
	return Number(match[1]) * unit;
}

/** The same in whole seconds, rounded up. */
export function parseDurationSeconds(text: string): number {
	return Math.ceil(parseDurationMs(text) / 1000);
}

/** A parser of durations from one to another, both given as the user would write them. */
export function durationBetween(least: string, most: string): (text: string) => number {
	const [leastMs, mostMs] = [parseDurationMs(least), parseDurationMs(most)];
	return (text) => {
		const ms = parseDurationMs(text);
		if (ms >= leastMs && ms <= mostMs) return ms;
		throw new Error(`${text} is not between ${least} and ${most}`);
	};
}
