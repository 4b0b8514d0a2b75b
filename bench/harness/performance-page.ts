import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownTable } from '../../tools/markdown-table.ts';
import { figureCells } from './figure-text.ts';
import type { Machine } from './machine.ts';
import { PROJECT } from './project.ts';
import type { Result } from './result-file.ts';
import { verdictOf } from './verdict.ts';

/** Writes docs/performance.md. */
export function writePerformancePage(results: readonly Result[]): void {
	writeFileSync(join(PROJECT, 'docs/performance.md'), performancePage(results));
}

/** The page: every figure beside its goal, and where, when and on what it was measured. */
export function performancePage(results: readonly Result[]): string {
	const noisy = results.filter(({ quiet }) => !quiet).map(({ benchmark }) => benchmark);
	return [
		'# Performance',
		'Written by `npm run bench` from the samples in `bench/results`. Times are medians. A ratio is the median over pairs of ours and theirs, measured in turn within one run. A goal with a plus is about the difference of the two.',
		noisy.length === 0
			? 'The machine was quiet.'
			: `**The machine was not quiet** during ${noisy.join(', ')}: the figures of these say little.`,
		markdownTable(['figure', 'what', 'ours', 'theirs', 'ratio', 'goal', ''], results.flatMap(figureRows)),
		'## Where, when and on what',
		markdownTable(['benchmark', 'date', 'commit', 'sizes', 'load before', 'load after', 'quiet'], results.map(runRow)),
		...machines(results).map(machineText),
		'The load is the average of the last minute and, behind it, the share of the processors that was busy in the second before the benchmark and after it.',
		'',
	].join('\n\n');
}

function figureRows({ figures }: Result): string[][] {
	return figures.map((figure) => {
		const [name, ...rest] = figureCells(figure, verdictOf(figure)) as [string, ...string[]];
		const against = figure.against === null ? '' : `; theirs: ${figure.against}`;
		return [name, figure.what + against, ...rest];
	});
}

function runRow({ benchmark, date, machine, full, before, after, quiet }: Result): string[] {
	const load = ({ average, busy }: Result['before']) => `${average.toFixed(1)}, ${Math.round(busy * 100)} %`;
	const commit = machine.commit.slice(0, 12) + (machine.modified ? ' with changes' : '');
	return [
		benchmark,
		date.slice(0, 10),
		commit,
		full ? 'full' : 'default',
		load(before),
		load(after),
		quiet ? 'yes' : 'no',
	];
}

/** Each machine once. */
function machines(results: readonly Result[]): Machine[] {
	return [...new Map(results.map(({ machine }) => [machineText(machine), machine])).values()];
}

function machineText({ processor, cores, memoryGiB, kernel, node, filesystem, user }: Machine): string {
	return `${processor}, ${cores} cores, ${memoryGiB} GiB; Linux ${kernel}, Node ${node}, filesystem of type ${filesystem}, run by ${user}.`;
}
