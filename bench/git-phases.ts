import { execFileSync } from 'node:child_process';
import { basename, join } from 'node:path';
import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { shellInside } from './harness/dropcloth.ts';
import { paired } from './harness/paired.ts';
import { benchPlace } from './harness/place.ts';
import { PROJECT } from './harness/project.ts';
import { hostShell, type Shell } from './harness/shell.ts';

/** What the ratio of each phase may be. */
const PHASES = { clone: 1.1, checkout: 1.1, status: 1.3, read_search: 1.1, edit: 1.1, diff: 1.1, fsck: 1.1 } as const;
type Phase = keyof typeof PHASES;

/** What the program of the phases prints. */
interface Phases {
	readonly ms: Readonly<Record<Phase, number>>;
	readonly seen: Readonly<Record<Phase, string>>;
}

/** The phases of work on a git repository, one after the other, inside one sandbox and on the host in turn. */
export async function gitPhases({ full, repository }: BenchOptions): Promise<Figure[]> {
	using place = benchPlace();
	const head = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: repository, encoding: 'utf8' }).trim();
	await using outside = hostShell({ cwd: place.path, env: place.env });
	await outside.run(`git clone -q --mirror '${repository}' project/mirror.git; cp -a project native; cd native`);
	await using inside = shellInside(place);
	const [ours, theirs]: [Phases[], Phases[]] = [[], []];
	await paired(
		full ? 11 : 5,
		() => work(inside, ours),
		() => work(outside, theirs),
	);
	for (const [round, { seen }] of ours.entries()) checkSame(seen, theirs[round]?.seen);
	// the first of each was the warm-up
	const samples = (all: readonly Phases[], phase: Phase) => all.slice(1).map(({ ms }) => ms[phase]);
	return (Object.keys(PHASES) as Phase[]).map((phase) => ({
		name: `git-phases/${phase}`,
		what: `the phase ${phase} of git on ${basename(repository)} at ${head}`,
		unit: 'ms',
		ours: samples(ours, phase),
		theirs: samples(theirs, phase),
		against: 'the same on the host',
		goal: { kind: 'ratio', value: PHASES[phase] },
	}));
}

async function work(shell: Shell, into: Phases[]): Promise<number> {
	const program = join(PROJECT, 'bench/programs/git-phases.mjs');
	const { output, ms } = await shell.run(`'${process.execPath}' '${program}' mirror.git`);
	into.push(JSON.parse(output) as Phases);
	await shell.run('rm -rf work');
	return ms;
}

function checkSame(ours: Phases['seen'], theirs: Phases['seen'] | undefined): void {
	const differing = (Object.keys(PHASES) as Phase[]).filter((phase) => ours[phase] !== theirs?.[phase]);
	if (differing.length > 0) throw new Error(`inside and outside saw different things in ${differing.join(', ')}`);
}
