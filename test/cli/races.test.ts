import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LOCK_SNAPSHOT_BASE, LockFile } from '../../src/host/lock-file.ts';
import { isRunning } from '../../src/host/process.ts';
import type { OwnerFacts } from '../../src/session/owner-file.ts';
import { recoverIfStale } from '../../src/session/recover-stale.ts';
import { placeInStore } from '../../src/session/session-place.ts';
import { sessionStatus } from '../../src/session/session-status.ts';
import { accounts, presentAccount, type Ran } from '../support/accounts.ts';
import { type SessionRig, sessionRig } from '../support/session-rig.ts';
import { until } from '../support/until.ts';

const place = ({ cli }: SessionRig) => placeInStore(cli.storePath, 'project');
const state = ({ cli }: SessionRig) => cli.json<{ state: string; keptLayers: string[] }>(['status', 'project']);
const ids = ({ cli }: SessionRig) =>
	cli.json<{ snapshots: { id: number }[] }>(['list', 'project']).snapshots.map(({ id }) => id);

/** The owner's file of a live run, once the sandbox's first process is in it. */
async function ownerOf(rig: SessionRig): Promise<OwnerFacts & { init: number; initStart: string }> {
	return await until('a described owner', () => {
		const { ownerPath } = place(rig);
		const owner = existsSync(ownerPath) ? (JSON.parse(readFileSync(ownerPath, 'utf8')) as OwnerFacts) : null;
		return owner?.init != null && owner.initStart !== null
			? { ...owner, init: owner.init, initStart: owner.initStart }
			: null;
	});
}

/** What a machine that was restarted finds: everything of the layer is of another boot. */
function restartMachine(rig: SessionRig): void {
	const { layersPath } = place(rig);
	const other = '00000000-0000-4000-8000-000000000000';
	for (const name of readdirSync(layersPath)) {
		if (/^\d+$/.test(name)) writeFileSync(join(layersPath, name, 'boot'), other);
		if (name !== 'ready') continue;
		const token = JSON.parse(readFileSync(join(layersPath, 'ready'), 'utf8'));
		writeFileSync(join(layersPath, 'ready'), JSON.stringify({ ...token, bootId: other }));
	}
}

function expectRefusedBusy({ code, stdout, stderr }: Ran): void {
	expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
	expect(stderr).toMatch(/^dropcloth: .*session 'project'.*\n$/);
}

describe.each(accounts())('as $name', (account) => {
	test.each([
		['that is not there yet', ''],
		['that is ready to be launched on', 'true'],
		['whose layer has to be made anew', 'rm -rf ../home/store/sessions/project/session.db.d/layers'],
	])('of runs started at once in a session %s each has all to itself or is refused', async (_, before) => {
		using rig = sessionRig(account);
		if (before !== '') {
			rig.inside('echo 0 > zero');
			rig.sh(before);
		}
		const names = ['a', 'b', 'c'];
		const script = (name: string) => `ls; for i in $(seq 300); do echo ${name} >> own; done; echo 1 > ${name}`;
		const runs = names.map((name) => rig.cli.start(['quick', rig.project, '--', 'sh', '-euc', script(name)]));
		const ended = await Promise.all(runs.map((run) => run.ended));
		for (const ran of ended) if (ran.code !== 0) expectRefusedBusy(ran);
		const winners = names.filter((_name, at) => ended[at]?.code === 0);
		expect(winners).not.toEqual([]);

		expect(rig.inside('ls').split('\n').filter(Boolean)).toEqual(
			[...winners, 'own', ...(before === '' ? [] : ['zero'])].sort(),
		);
		// one after the other, never mixed
		const lines = rig.inside('uniq -c own').trim().split('\n');
		expect(lines.map((line) => line.trim().split(' ')[0])).toEqual(winners.map(() => '300'));
		expect(state(rig).state).toBe('stopped');
	});

	test('a killed run is over before the next one starts, and what it wrote is there', async () => {
		using rig = sessionRig(account);
		rig.inside('true');
		for (let round = 1; round <= 10; round++) {
			const script = `echo ${round} > wrote-${round}; echo begun; while :; do echo x >> beat; done`;
			const first = rig.cli.start(['quick', rig.project, '--', 'sh', '-euc', script]);
			await first.said(/begun/);
			const { init, initStart } = await ownerOf(rig);
			first.kill('SIGKILL');
			// whoever else could write would be seen: the file is looked at for a while
			const look = `echo begun; cp beat seen; for i in $(seq 200); do cmp beat seen; done; cat wrote-${round}`;
			const second = rig.cli.start(['quick', rig.project, '--', 'sh', '-euc', look]);
			await second.said(/begun/);
			expect(isRunning(init, initStart), 'the first sandbox still runs').toBe(false);
			const ran = await second.ended;
			expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: `begun\n${round}\n` });
			expect(ran.stderr).toMatch(/was killed; what it had written is snapshot \d+/);
			await first.ended;
		}
		expect(rig.inside('cat wrote-*')).toBe(rig.inside('seq 10 | sort'));
		expect(rig.sh('ls')).toBe('');
	});

	test('looking at a session while runs start, go on and end never fails and never gets in their way', async () => {
		using rig = sessionRig(account);
		rig.inside('true');
		let left = 12;
		const runs = (async () => {
			for (; left > 0; left--) {
				const ran = await rig.cli.start(['quick', rig.project, '--', 'sh', '-c', 'echo 1 >> f']).ended;
				expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
			}
		})();
		const looks = (async () => {
			while (left > 0) {
				for (const args of [['status', 'project'], ['ps'], ['list', 'project'], ['diff', 'project']]) {
					const ran = await rig.cli.start([...args, '--json']).ended;
					expect(ran, `${args}: ${ran.stderr}${ran.stdout}`).toMatchObject({ code: 0, stderr: '' });
					if (args[0] === 'status') expect(['stopped', 'busy', 'live']).toContain(JSON.parse(ran.stdout).state);
				}
			}
		})();
		await Promise.all([runs, looks]);
		expect(rig.inside('cat f')).toBe('1\n'.repeat(12));
	});

	test('gc leaves a snapshot that somebody reads', async () => {
		using rig = sessionRig(account);
		for (const name of ['a', 'b', 'c', 'd']) rig.inside(`echo ${name} > f`);
		const reader = LockFile.open(place(rig).lockPath);
		reader.tryLock(LOCK_SNAPSHOT_BASE + 3, 1, 'shared');

		const first = rig.cli.json<{ spared: { id: number }[] }>(['gc', 'project', '--keep-last', '1']);
		expect(first.spared.map(({ id }) => id)).toContain(3);
		expect(ids(rig)).toEqual([3, 5]);
		expect(rig.cli.run(['diff', 'project', 'base', '3', '--patch']).stdout).toContain('+b');
		reader.close();
		rig.cli.json(['gc', 'project', '--keep-last', '1']);
		expect(ids(rig)).toEqual([5]);
	});

	test.each([
		['diff', ['diff', 'project', 'base', '3', '--patch']],
		['show', ['show', 'project', '3']],
	])('%s waits for gc to have decided about what it reads, and keeps it from deciding', async (_, args) => {
		using rig = sessionRig(account);
		for (const name of ['a', 'b', 'c']) rig.inside(`echo ${name} > f`);
		const { lockPath } = place(rig);
		const collector = LockFile.open(lockPath);
		collector.tryLock(LOCK_SNAPSHOT_BASE + 3, 1, 'exclusive');
		const running = rig.cli.start(args);
		await until('the reader at the lock', () =>
			readdirSync(`/proc/${running.pid}/fd`).some((fd) => linkOf(`/proc/${running.pid}/fd/${fd}`) === lockPath),
		);
		collector.close();
		const ran = await running.ended;
		expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
	});

	test('after a restart of the machine a session that was stopped goes on as if nothing had been', () => {
		using rig = sessionRig(account);
		rig.inside('echo 1 > f; mkfifo p; ln -s f l; rm -rf d');
		restartMachine(rig);
		const ran = rig.cli.run(['quick', rig.project, '--', 'cat', 'f']);
		expect(ran).toEqual({ code: 0, signal: null, stdout: '1\n', stderr: '' });
		expect(rig.inside('ls')).toBe('f\nl\np\n');
		expect(state(rig)).toMatchObject({ state: 'stopped', keptLayers: [] });
	});

	test('after a restart under a run the store is believed, and what the layer held is kept and named', async () => {
		using rig = sessionRig(account);
		rig.inside('echo old > f');
		const run = rig.cli.start(['quick', rig.project, '--', 'sh', '-euc', 'echo new > f; echo begun; exec sleep 60']);
		await run.said(/begun/);
		const { init, initStart } = await ownerOf(rig);
		run.kill('SIGKILL');
		await run.ended;
		await until('the end of the sandbox', () => !isRunning(init, initStart));
		restartMachine(rig);

		const ran = rig.cli.run(['quick', rig.project, '--', 'cat', 'f']);
		expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: 'old\n' });
		const kept = /the machine was restarted .* kept at (\S+)/.exec(ran.stderr)?.[1] ?? '';
		expect(readFileSync(join(kept, 'project/upper/f'), 'utf8')).toBe('new\n');
		expect(state(rig)).toMatchObject({ state: 'stopped', keptLayers: [kept] });
		expect(rig.inside('cat f')).toBe('old\n');
		expect(state(rig).keptLayers).toEqual([kept]);
	});

	test('the session file alone, copied elsewhere, is the whole session', () => {
		using rig = sessionRig(account);
		rig.inside('echo 1 > f; rm -f gone');
		rig.inside('echo 2 > f');
		const copy = join(rig.place, 'elsewhere.db');
		rig.sh(`cp '${place(rig).dbPath}' '${copy}'`);
		rig.cli.run(['discard', 'project', '--yes']);

		expect(rig.cli.json<{ snapshots: unknown[] }>(['list', copy]).snapshots).toHaveLength(3);
		const ran = rig.cli.run(['run', copy, '--', 'sh', '-c', 'cat f; ls -A ..; echo 3 > f'], { cwd: rig.project });
		expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
		expect(ran.stdout.split('\n')[0]).toBe('2');
		rig.cli.json(['undo', copy, '2', '--yes']);
		expect(rig.cli.run(['run', copy, '--', 'cat', 'f']).stdout).toBe('1\n');
		// what lies beside the file is hidden inside, as the store is
		expect(rig.cli.run(['run', copy, '--', 'sh', '-c', `cat '${copy}'; ls -A '${copy}.d'`]).stdout).toBe('');
	});

	test.each([
		['of after a run', true],
		['of before the first run', false],
	])('an older copy of the file, %s, put back over the newer loses nothing', (_, afterRun) => {
		using rig = sessionRig(account);
		const { dbPath } = place(rig);
		const older = join(rig.place, 'older.db');
		if (afterRun) rig.inside('echo 1 > f');
		else rig.cli.json(['init', 'project', '--base', rig.project]);
		rig.sh(`cp '${dbPath}' '${older}'`);
		rig.inside('echo 2 > f; echo 3 > g');
		rig.sh(`cp '${older}' '${dbPath}'`);

		const ran = rig.cli.run(['quick', rig.project, '--', 'sh', '-c', 'cat f g']);
		if (afterRun) expect(ran).toMatchObject({ code: 0, stdout: '2\n3\n' });
		else {
			const kept = /kept at (\S+)/.exec(ran.stderr)?.[1] ?? '';
			expect(readFileSync(join(kept, 'project/upper/f'), 'utf8')).toBe('2\n');
			expect(state(rig).keptLayers).toEqual([kept]);
		}
	});
});

test('a status asked for without pause sees runs live or stopped, and never takes their place', async () => {
	using rig = sessionRig(presentAccount());
	rig.inside('true');
	const seen = new Set<string>();
	for (let round = 0; round < 8; round++) {
		const run = rig.cli.start(['quick', rig.project, '--', 'sh', '-c', 'echo 1 >> f']);
		let ended = false;
		void run.ended.then(() => {
			ended = true;
		});
		while (!ended) {
			expect(await recoverIfStale(place(rig), (text) => expect.unreachable(text))).toBe(false);
			seen.add(sessionStatus(place(rig)).state);
			await new Promise(setImmediate);
		}
		const ran = await run.ended;
		expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
	}
	seen.delete('busy');
	expect([...seen].sort()).toEqual(['live', 'stopped']);
	expect(rig.inside('cat f')).toBe('1\n'.repeat(8));
});

function linkOf(path: string): string | null {
	try {
		return readlinkSync(path);
	} catch {
		return null;
	}
}

test('a claim to launch that its process did not outlive holds nobody up', () => {
	using rig = sessionRig(presentAccount());
	rig.inside('echo 1 > f');
	const { layersPath } = place(rig);
	const stale = join(layersPath, 'claimed-999999999-1');
	writeFileSync(stale, readFileSync(join(layersPath, 'ready')));
	rmSync(join(layersPath, 'ready'));
	expect(rig.inside('cat f')).toBe('1\n');
	expect(existsSync(stale)).toBe(false);
});
