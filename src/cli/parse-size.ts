const UNIT_BYTES: Readonly<Record<string, number>> = { K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

/** A size such as 500M, 2G or 1.5GiB, in bytes; units are of 1024. Throws an Error that says what is wrong. */
export function parseSizeBytes(text: string): number {
	const match = /^(\d{1,9}(?:\.\d{1,6})?)([KMGT])(?:iB)?$/.exec(text);
	const unit = UNIT_BYTES[match?.[2] ?? ''];
	const bytes = match === null || unit === undefined ? 0 : Math.floor(Number(match[1]) * unit);
	if (bytes > 0) return bytes;
	throw new Error(`${text} is not a size such as 500M, 2G or 1.5GiB`);
}
