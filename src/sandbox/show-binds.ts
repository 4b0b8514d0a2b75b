import { printable } from '../base/printable.ts';
import type { Plan } from './plan-writer.ts';

/** Every mount of a plan in the order it is made, one a line: `kind  path  source  reason`. For `--show-binds`. */
export function showBinds(plan: Plan, backend: { readonly name: string; readonly reason: string }): string {
	const rows = plan.mounts.map(({ kind, path, source, reason }) => [kind, printable(path), printable(source), reason]);
	const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
	const lines = rows.map((row) =>
		row
			.map((cell, column) => cell.padEnd(widths[column] ?? 0))
			.join('  ')
			.trimEnd(),
	);
	return [`backend ${backend.name}: ${backend.reason}`, ...lines, ''].join('\n');
}
