import type { Figure, Goal } from './benchmark.ts';
import type { Verdict } from './verdict.ts';

/** The cells of a figure's line: `name ours theirs ratio goal pass|FAIL`. */
export function figureCells({ name, unit, goal }: Figure, verdict: Verdict): string[] {
	const { ours, theirs, ratio, passed } = verdict;
	return [
		name,
		amount(ours, unit),
		theirs === null ? '-' : amount(theirs, unit),
		ratio === null ? '-' : ratio.toFixed(ratio < 10 ? 3 : 1),
		goalText(goal, unit) + (goal.kind === 'extra' ? ` (${signed(verdict.reached, unit)})` : ''),
		passed ? 'pass' : 'FAIL',
	];
}

/** Lines of cells in columns. */
export function columns(rows: readonly (readonly string[])[]): string {
	const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)));
	return rows
		.map(
			(row) =>
				`${row
					.map((cell, column) => cell.padEnd(widths[column] ?? 0))
					.join('  ')
					.trimEnd()}\n`,
		)
		.join('');
}

/** An amount with its unit, in three digits or more. */
export function amount(value: number, unit: Figure['unit']): string {
	const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
	return `${value.toFixed(digits)} ${unit}`;
}

function goalText({ kind, value }: Goal, unit: Figure['unit']): string {
	switch (kind) {
		case 'at most':
			return `<= ${value} ${unit}`;
		case 'extra':
			return `<= +${value} ${unit}`;
		case 'ratio':
			return `<= ${value}x`;
	}
}

function signed(value: number, unit: Figure['unit']): string {
	return `${value < 0 ? '' : '+'}${amount(value, unit)}`;
}
