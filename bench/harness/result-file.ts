import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Figure } from './benchmark.ts';
import type { Load, Machine } from './machine.ts';
import { PROJECT } from './project.ts';

/** One benchmark's run, with all its samples: `bench/results/<name>.json`. */
export interface Result {
	readonly benchmark: string;
	/** When it ended, ISO 8601. */
	readonly date: string;
	readonly full: boolean;
	readonly machine: Machine;
	readonly before: Load;
	readonly after: Load;
	readonly quiet: boolean;
	readonly figures: readonly Figure[];
}

export const RESULTS: string = join(PROJECT, 'bench/results');

/** Writes a result in place of the benchmark's last one. */
export function writeResult(result: Result): void {
	mkdirSync(RESULTS, { recursive: true });
	const rounded = (_key: string, value: unknown) => (typeof value === 'number' ? Number(value.toFixed(4)) : value);
	writeFileSync(join(RESULTS, `${result.benchmark}.json`), `${JSON.stringify(result, rounded, '\t')}\n`);
}

/** The results in a file, or in all files of a directory. */
export function readResults(path: string): Result[] {
	if (!statSync(path).isDirectory()) return [JSON.parse(readFileSync(path, 'utf8')) as Result];
	const names = readdirSync(path).filter((name) => name.endsWith('.json'));
	return names.sort().map((name) => JSON.parse(readFileSync(join(path, name), 'utf8')) as Result);
}
