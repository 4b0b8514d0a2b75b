/** Measures, prints each figure beside its goal, and writes bench/results and docs/performance.md: `npm run bench -- --help`. */
import { homedir } from 'node:os';
import { parseArgs } from 'node:util';
import { BENCHMARKS } from './catalogue.ts';
import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { columns, figureCells } from './harness/figure-text.ts';
import { isQuiet, lookAtLoad, machineFacts } from './harness/machine.ts';
import { writePerformancePage } from './harness/performance-page.ts';
import { PROJECT } from './harness/project.ts';
import { RESULTS, type Result, readResults, writeResult } from './harness/result-file.ts';
import { slowerThan } from './harness/slower.ts';
import { verdictOf } from './harness/verdict.ts';

const USAGE = `usage: npm run bench [-- [NAME...] [--full] [--repo DIR] [--against FILE]]
  NAME            a benchmark: ${Object.keys(BENCHMARKS).join(', ')}; all of them when none is named
  --full          sizes as large as the goals name them
  --repo DIR      the git repository for the git phases; this one when left out
  --against FILE  an earlier result of bench/results, or a directory of such: fails when a time is more than 5 % and 10 ms above it
`;

const OPTIONS = {
	full: { type: 'boolean', default: false },
	repo: { type: 'string', default: PROJECT },
	against: { type: 'string' },
	help: { type: 'boolean', default: false },
} as const;

/** A figure missed its goal, or is slower than before. */
const EXIT_RED = 1;
const EXIT_USAGE = 2;

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
await main();

async function main(): Promise<void> {
	const request = readArguments();
	if (typeof request === 'string') {
		process.stderr.write(`${request}\n${USAGE}`);
		process.exitCode = EXIT_USAGE;
		return;
	}
	const { values, positionals } = request;
	if (values.help) return void process.stdout.write(USAGE);
	const earlier = values.against === undefined ? [] : readResults(values.against);
	const note = (text: string) => process.stderr.write(`  ${text}\n`);
	const options = { full: values.full, repository: values.repo, note };
	const results: Result[] = [];
	for (const name of positionals.length === 0 ? Object.keys(BENCHMARKS) : positionals) {
		const result = await measure(name, options);
		if (result === null) continue;
		writeResult(result);
		results.push(result);
		process.stdout.write(table(result.figures));
	}
	writePerformancePage(readResults(RESULTS));
	report(results, slowerThan(earlier, results));
}

/** What is asked for, or what is wrong with it. */
function readArguments() {
	try {
		const request = parseArgs({ allowPositionals: true, options: OPTIONS });
		const unknown = request.positionals.find((name) => !Object.hasOwn(BENCHMARKS, name));
		return unknown === undefined ? request : `there is no benchmark '${unknown}'`;
	} catch (error) {
		if (!String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS')) throw error;
		return (error as Error).message;
	}
}

async function measure(name: string, options: BenchOptions): Promise<Result | null> {
	const run = await BENCHMARKS[name]?.();
	if (run === undefined) throw new Error(`no benchmark ${name}`);
	process.stderr.write(`${name}\n`);
	const before = await lookAtLoad();
	const figures = await run(options);
	if ('skipped' in figures) {
		process.stdout.write(`${name}  skipped: ${figures.skipped}\n`);
		return null;
	}
	const after = await lookAtLoad();
	const machine = machineFacts(homedir());
	const date = new Date().toISOString();
	const quiet = isQuiet([before, after]);
	return { benchmark: name, date, full: options.full, machine, before, after, quiet, figures };
}

function table(figures: readonly Figure[]): string {
	return columns(figures.map((figure) => figureCells(figure, verdictOf(figure))));
}

function report(results: readonly Result[], slower: readonly string[]): void {
	const figures = results.flatMap((result) => result.figures);
	const missed = figures.filter((figure) => !verdictOf(figure).passed);
	const noisy = results.filter(({ quiet }) => !quiet).map(({ benchmark }) => benchmark);
	if (noisy.length > 0) process.stdout.write(`the machine was not quiet: ${noisy.join(', ')}\n`);
	for (const line of slower) process.stdout.write(`slower than before: ${line}\n`);
	process.stdout.write(`${figures.length} figures, ${missed.length} missed their goal\n`);
	if (missed.length > 0 || slower.length > 0) process.exitCode = EXIT_RED;
}
