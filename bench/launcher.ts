import { spawnSync } from 'node:child_process';
import type { Plan, PlannedMount } from '../src/sandbox/plan-writer.ts';
import type { BenchOptions, Figure, Skipped } from './harness/benchmark.ts';
import { compileProgram } from './harness/c-program.ts';
import { callProgram } from './harness/dropcloth.ts';
import { benchPlace } from './harness/place.ts';
import { LAUNCHER } from './harness/project.ts';
import { sandboxPlan } from './harness/sandbox-plan.ts';

/** The launcher on a ready plan against bwrap with the same namespaces and as many mounts, both started by a C program. */
export function launcher({ full }: BenchOptions): Figure[] | Skipped {
	const bwrap = spawnSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).stdout.trim();
	if (bwrap === '') return { skipped: 'there is no bwrap here (Debian: apt install bubblewrap)' };
	using place = benchPlace();
	const plan = sandboxPlan(place, ['/bin/true'], false);
	const planFile = place.write('plan', `${['plan 1', ...plan.operations.flat()].join('\0')}\0`);
	const pairs = callProgram(
		compileProgram('spawn-pairs', place.path),
		[String(full ? 400 : 200), LAUNCHER, planFile, place.join('report'), bwrap, ...bwrapArguments(plan), '/bin/true'],
		place,
	);
	const lines = pairs.stdout
		.trim()
		.split('\n')
		.map((line) => line.split(' '));
	const samples = (column: number) => lines.map((words) => Number(words[column]) / 1e6);
	return [
		{
			name: 'launcher/true',
			what: `the launcher alone, ${plan.mounts.length} mounts, running \`/bin/true\``,
			unit: 'ms',
			ours: samples(0),
			theirs: samples(1),
			against: '`bwrap` with comparable mounts, a bind mount where ours is an overlay',
			goal: { kind: 'ratio', value: 0.6 },
		},
	];
}

function bwrapArguments({ mounts }: Plan): string[] {
	const others = mounts.filter(({ path }) => path !== '/dev' && !path.startsWith('/dev/'));
	const namespaces = ['user', 'pid', 'ipc', 'uts'].map((name) => `--unshare-${name}`);
	return [...namespaces, '--die-with-parent', ...others.flatMap(mountArguments), '--dev', '/dev'];
}

function mountArguments({ kind, path, source }: PlannedMount): string[] {
	switch (kind) {
		case 'overlay':
			return ['--bind', path, path];
		case 'bind':
			return ['--bind', source, path];
		case 'read-only bind':
			return ['--ro-bind', source, path];
		case 'fresh':
			return [`--${source}`, path];
		case 'mask':
			return source === '/dev/null' ? ['--ro-bind', source, path] : ['--tmpfs', path];
	}
}
