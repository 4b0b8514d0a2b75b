const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** A duration such as 90s, 30m, 12h or 7d, in seconds. Throws an Error that says what is wrong. */
export function parseDurationSeconds(text: string): number {
	const match = /^(\d{1,9})([smhd])$/.exec(text);
	const unit = UNIT_SECONDS[match?.[2] ?? ''];
	if (match === null || unit === undefined) throw new Error(`${text} is not a duration such as 90s, 30m, 12h or 7d`);
	return Number(match[1]) * unit;
}
