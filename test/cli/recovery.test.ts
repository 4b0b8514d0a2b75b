import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isoTime, systemClock } from '../../src/base/clock.ts';
import { bootId, processStart } from '../../src/host/process.ts';
import type { OwnerFacts } from '../../src/session/owner-file.ts';
import { placeInStore } from '../../src/session/session-place.ts';
import { accounts, presentAccount, type Ran } from '../support/accounts.ts';
import { processTree, threadsOf } from '../support/process-tree.ts';
import { type SessionRig, sessionRig, TREE_SCRIPT } from '../support/session-rig.ts';
import { treeLines } from '../support/tree-hash.ts';
import { until } from '../support/until.ts';

/** A command that is killed, and what has to be found then. */
interface Killed {
	readonly what: string;
	readonly args: readonly string[];
	/** Which of the states 1, 2, 3 (by snapshot) and `new` the session may be in when it came through, and when it did not. */
	readonly states: readonly string[];
}

const CHANGE = [
	'echo one > f; mkdir -p d/e; seq 2000 > d/e/many; ln f hard',
	'echo two > f; rm -r d; ln -s f d; mkfifo p; for i in $(seq 40); do echo $i > file-$i; done',
	'rm -f file-*; echo three > f; rm d; mkdir d; echo inner > d/inner; chmod 600 f',
];

const COMMANDS: readonly Killed[] = [
	{
		what: 'run',
		args: [
			'run',
			'project',
			'--',
			'sh',
			'-euc',
			'echo new > f; rm -r d; for i in $(seq 40); do echo $i > new-$i; done; ln f new; rm new-1*',
		],
		states: ['3', 'new'],
	},
	{ what: 'snap', args: ['snap', 'project'], states: ['3'] },
	{ what: 'restore', args: ['restore', 'project', '2', '--yes'], states: ['3', '1'] },
	{ what: 'undo', args: ['undo', 'project', '--yes'], states: ['3', '2'] },
	{ what: 'apply', args: ['apply', 'project', '--yes', '--allow-exec'], states: ['3'] },
];

/** At which parts of the time that the command takes it is killed. */
const MOMENTS = [0.35, 0.55, 0.75, 0.95];

/** Everything but the session's own files: those of the base and of home. */
const host = (rig: SessionRig) => [
	...treeLines(rig.project),
	...treeLines(rig.cli.account.home, { except: [rig.cli.storePath] }),
];

describe.each(accounts())('as $name', (account) => {
	test.each(COMMANDS)('$what killed at any moment leaves the state before or after', async ({ what, args, states }) => {
		using rig = sessionRig(account);
		rig.sh(`mkdir -p '${rig.cli.storePath}'; echo base > f; echo base > only-base`);
		const trees: Record<string, string> = {};
		for (const [at, script] of CHANGE.entries()) trees[at + 1] = rig.inside(`${script}; ${TREE_SCRIPT}`);
		const saved = `${rig.place}/saved`;
		// overlayfs leaves a directory without permissions, which its owner may not enter
		rig.sh(`find '${rig.cli.storePath}' -path '*/work/work' -prune -exec chmod 700 {} +`);
		rig.sh(`mkdir '${saved}'; cp -a '${rig.cli.storePath}' '${saved}/store'; cp -a . '${saved}/project'`);
		const before = host(rig);
		const began = performance.now();
		const whole = await rig.cli.start(args).ended;
		const tookMs = performance.now() - began;
		expect(whole, whole.stderr).toMatchObject({ code: 0 });
		if (what === 'run') trees['new'] = rig.inside(TREE_SCRIPT);
		for (const part of MOMENTS) {
			putBack(rig, saved);
			expect(host(rig)).toEqual(before);
			const running = rig.cli.start(args);
			const timer = setTimeout(() => running.kill('SIGKILL'), tookMs * part);
			await running.ended;
			clearTimeout(timer);

			const status = rig.cli.json<{ state: string; changed: boolean }>(['status', 'project']);
			expect(['stopped', 'stale-recovered']).toContain(status.state);
			if (what === 'apply') makeApplyWhole(rig, before);
			else expect(host(rig)).toEqual(before);
			const tree = rig.inside(TREE_SCRIPT);
			const state = Object.entries(trees).find(([, lines]) => lines === tree)?.[0];
			// a run may be killed between two things that it does
			if (what !== 'run') expect(states, `at ${part}:\n${tree}`).toContain(state ?? 'none of them');
			expect(snapshots(rig).slice(0, 4)).toEqual([1, 2, 3, 4]);
			expect(rig.sh(`sqlite3 '${placeInStore(rig.cli.storePath, 'project').dbPath}' 'pragma integrity_check'`)).toBe(
				'ok\n',
			);
			// every state is still there
			rig.cli.json(['restore', 'project', '3', '--yes']);
			expect(rig.inside(TREE_SCRIPT)).toBe(trees[2]);
			expect(leftovers(rig)).toEqual([]);
		}
	});

	test('a run that was killed is recovered by whatever looks next, and told once', async () => {
		using rig = sessionRig(account);
		for (const look of [
			['status', 'project'],
			['diff', 'project'],
			['snap', 'project'],
			['undo', 'project', '--yes'],
		]) {
			const run = rig.cli.start(['quick', rig.project, '--', 'sh', '-euc', `echo '${look}' > f; echo begun; sleep 60`]);
			await run.said(/begun/);
			run.kill('SIGKILL');
			await run.ended;
			const ran = lookUntilTold(rig, look);
			expect(ran.code, ran.stderr).toBe(0);
			expect(ran.stderr).toMatch(/was killed; what it had written is snapshot \d+\n$/);
			if (look[0] === 'status') expect(ran.stdout).toMatch(/stale-recovered/);
			if (look[0] === 'diff') expect(ran.stdout).toContain('A\tf');
			expect(rig.cli.run(['status', 'project'])).toMatchObject({ code: 0, stderr: '' });
		}
	});
});

/** A tree in a pid namespace of its own whose first process waits for a child that runs a script, recorded as the last run's. */
async function leaveTree(rig: SessionRig, script: string) {
	rig.inside('echo 1 > f');
	const { layersPath, ownerPath } = placeInStore(rig.cli.storePath, 'project');
	rmSync(join(layersPath, 'ready'));
	const { uid, gid } = rig.account;
	const command = ['-Urpf', '--kill-child', 'sh', '-c', 'sh -c "$1"; exit 0', 'sh', script];
	const tree = spawn('unshare', command, { uid, gid, cwd: '/' });
	const ended = once(tree, 'exit');
	onTestFinished(() => void tree.kill('SIGKILL'));
	const pids = await until('the tree is there', () => {
		const found = processTree(tree.pid as number);
		return found.length === 3 && found;
	});
	const [, init = 0, child = 0] = pids;
	const facts: OwnerFacts = {
		pid: 999_999_999,
		pidStart: '1',
		init,
		initStart: processStart(init),
		bootId: bootId(),
		backend: 'kernel',
		layer: 1,
		started: isoTime(systemClock.now()),
		basePath: null,
		quota: null,
		joined: [],
		argv: ['sh'],
	};
	writeFileSync(ownerPath, JSON.stringify(facts));
	return { init, child, ended };
}

test.each(accounts())(
	'what stands stopped without its owner is continued and comes to its end, as $name',
	async (account) => {
		using rig = sessionRig(account);
		const { child, ended } = await leaveTree(rig, 'kill -STOP $$');
		await until('the child has stopped', () => threadsOf(child).some(({ state }) => state === 'T'));
		expect(rig.inside('cat f')).toBe('1\n');
		expect(await ended).toEqual([0, null]);
	},
);

test('what runs on without its owner is told by the number of its first process', async () => {
	using rig = sessionRig(presentAccount());
	const { init } = await leaveTree(rig, 'read line; sleep 60');
	const ran = rig.cli.run(['quick', rig.project, '--', 'cat', 'f']);
	expect(ran.code).toBe(3);
	expect(ran.stderr).toContain(`process ${init} of the session's last run is still there`);
});

/** `status` and `diff` leave a dying sandbox to die: they are asked again until it is gone. */
function lookUntilTold({ cli }: SessionRig, args: readonly string[]): Ran {
	for (let attempt = 0; ; attempt++) {
		const ran = cli.run(args);
		if (ran.stderr !== '' || attempt > 100) return ran;
	}
}

function putBack(rig: SessionRig, saved: string): void {
	const { storePath } = rig.cli;
	const empty = (path: string) => `find '${path}' -mindepth 1 -delete`;
	rig.sh(`find '${storePath}' -path '*/work/work' -prune -exec chmod 700 {} +; ${empty(storePath)}; ${empty('.')}`);
	rig.sh(`cp -a '${saved}/store/.' '${storePath}'; cp -a '${saved}/project/.' .`);
}

/** An apply that was cut short is taken back, which must give the host as it was; or it had ended, or not begun. */
function makeApplyWhole(rig: SessionRig, before: readonly string[]): void {
	const again = rig.cli.run(['apply', 'project', '--yes', '--allow-exec']);
	if (again.code === 0) {
		expect(rig.sh(TREE_SCRIPT)).toBe(rig.inside(TREE_SCRIPT));
		return;
	}
	expect(again.stderr).toMatch(/interrupted/);
	const aborted = rig.cli.run(['apply', 'project', '--abort']);
	expect(aborted, aborted.stderr).toMatchObject({ code: 0 });
	expect(host(rig)).toEqual(before);
}

function snapshots({ cli }: SessionRig): number[] {
	return cli.json<{ snapshots: { id: number }[] }>(['list', 'project']).snapshots.map(({ id }) => id);
}

/** Names beside the session's own. */
function leftovers({ cli }: SessionRig): string[] {
	const { sidePath, layersPath } = placeInStore(cli.storePath, 'project');
	const known = /^(lock|layers|journal)$/;
	return [
		...readdirSync(sidePath).filter((name) => !known.test(name)),
		...readdirSync(layersPath).filter((name) => !/^(\d+|ready)$/.test(name)),
	];
}
