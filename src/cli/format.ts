import { isoTime } from '../base/clock.ts';
import type { Time } from '../base/inode.ts';

/** Rows as columns, each as wide as its longest cell; the last is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
	const widths: number[] = [];
	for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
	return rows
		.map((row) =>
			row
				.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
				.join('  ')
				.trimEnd(),
		)
		.join('\n');
}

/** A size as people read it: three digits and a unit of 1024. */
export function sizeText(bytes: number): string {
	const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
	let value = bytes;
	let unit = 0;
	while (value >= 1024 && unit < units.length - 1) {
		value /= 1024;
		unit += 1;
	}
	return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** A time to the second, in UTC; a text is one that `isoTime` made. */
export function timeText(time: Time | string): string {
	const iso = typeof time === 'string' ? time : isoTime(time);
	return `${iso.slice(0, 19).replace('T', ' ')}Z`;
}

/** A count with its noun: 1 file, 2 files. */
export function count(number: number, singular: string, plural = `${singular}s`): string {
	return `${number} ${number === 1 ? singular : plural}`;
}
