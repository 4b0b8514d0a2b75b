import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { LiveShell } from '../support/live-shell.ts';
import { integrityOf, type SessionRig, sessionRig, TREE_SCRIPT } from '../support/session-rig.ts';

/** What a reader sees, and which names are one file. */
const SEEN = `(${TREE_SCRIPT}; find . ! -type d -links +1 -printf '%P %n\\n' | LC_ALL=C sort)`;

const BASE = `echo base > f; mkdir -p d/e g; seq 2000 > d/many; echo inner > d/e/inner; echo g > g/g; ln -s f link
	touch -d '2020-01-02 03:04:05.678901234' f d/e d; chmod 750 g; setfattr -n user.k -v base f`;

interface Restored {
	readonly restored: number | null;
	readonly present: number | null;
	readonly kept: readonly string[];
}

const restore = ({ cli }: SessionRig, ...args: string[]) => cli.json<Restored>([...args, '--yes']);

/** One thing that happens: inside a script of few names, outside a command. */
const step = fc.record({
	what: fc.constantFrom(
		...['write', 'write', 'append', 'remove', 'remove', 'directory', 'symlink', 'fifo', 'link', 'move', 'copy'],
		...['mode', 'time', 'attribute', 'snap', 'snap', 'undo', 'undo', 'redo', 'restore', 'restore'],
	),
	a: fc.nat(11),
	b: fc.nat(11),
	value: fc.nat(99),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const NAMES = ['f', 'd', 'd/e', 'd/e/inner', 'd/many', 'g', 'g/g', 'new', 'd/new', 'g/new/er', 'link', 'new/in'];

function script({ what, a, b, value }: Step): string | null {
	const [one, other] = [NAMES[a] as string, NAMES[b] as string];
	switch (what) {
		case 'write':
			return `rm -rf ${one}; mkdir -p $(dirname ${one}); echo ${value} > ${one}`;
		case 'append':
			return `echo ${value} >> ${one}`;
		case 'remove':
			return `rm -rf ${one}`;
		case 'directory':
			return `rm -f ${one}; mkdir -p ${one}; echo ${value} > ${one}/x${value % 3}`;
		case 'symlink':
			return `rm -rf ${one}; ln -s target-${value} ${one}`;
		case 'fifo':
			return `rm -rf ${one}; mkfifo ${one}`;
		case 'link':
			return `ln -f ${one} ${other}`;
		case 'move':
			return `mv -T ${one} ${other}`;
		case 'copy':
			return `cp -a ${one} ${other}`;
		case 'mode':
			return `chmod ${[600, 700, 755, 500, 1777][value % 5]} ${one}`;
		case 'time':
			return `touch -hd '2021-01-01 00:00:${10 + (value % 50)}.123456789' ${one}`;
		case 'attribute':
			return `setfattr -n user.k${value % 2} -v ${value} ${one}`;
		default:
			return null;
	}
}

/** Fifty steps are a hundred commands. */
const PATIENCE_MS = 300_000;

describe.each(accounts())('as $name', (account) => {
	test(
		'whatever was done inside, a live restore, undo or redo shows the snapshot’s tree at once',
		async () => {
			await fc.assert(
				fc.asyncProperty(fc.array(step, { minLength: 50, maxLength: 50 }), (steps) => play(steps)),
				{ numRuns: 1, endOnFailure: true },
			);
		},
		PATIENCE_MS,
	);

	async function play(steps: readonly Step[]): Promise<void> {
		using rig = sessionRig(account);
		rig.sh(BASE);
		// the snapshots are ours alone
		const shell = await LiveShell.start(rig, ['--snapshots', 'none']);
		const trees = new Map([[1, await shell.run(SEEN)]]);
		for (const one of steps) {
			const inside = script(one);
			if (inside !== null) await shell.run(`{ ${inside}; } 2>/dev/null </dev/null`);
			else await playOutside(rig, shell, trees, one);
		}
		const last = await shell.run(SEEN);
		expect(rig.cli.run(['stop', 'project'])).toMatchObject({ code: 0, stderr: '' });
		await shell.ended;
		expect(rig.inside(SEEN)).toBe(last);
		expect(integrityOf(rig)).toEqual([]);
		for (const [id, tree] of trees) {
			restore(rig, 'restore', 'project', String(id));
			expect(rig.inside(SEEN), `snapshot ${id}`).toBe(tree);
		}
	}

	async function playOutside(rig: SessionRig, shell: LiveShell, trees: Map<number, string>, one: Step): Promise<void> {
		const before = await shell.run(SEEN);
		if (one.what === 'snap') {
			trees.set(rig.cli.json<{ id: number }>(['snap', 'project']).id, before);
			return;
		}
		const ids = [...trees.keys()];
		const target = one.what === 'restore' ? [String(ids[one.value % ids.length])] : [];
		const { restored, present, kept } = restore(rig, one.what, 'project', ...target);
		expect(kept).toEqual([]);
		if (present !== null) trees.set(present, before);
		const after = restored === null ? before : trees.get(restored);
		expect(await shell.run(SEEN), `after ${one.what} to ${restored}`).toBe(after);
		if (one.what === 'undo' && restored !== null) {
			restore(rig, 'redo', 'project');
			restore(rig, 'undo', 'project');
			expect(await shell.run(SEEN)).toBe(after);
		}
	}

	test('an open shell sees it at once; what has a file open keeps its own', async () => {
		using rig = sessionRig(account);
		rig.sh('echo base > f; mkdir d; echo in > d/in');
		const shell = await LiveShell.start(rig);
		await shell.run('echo one > f; exec 3>>f 4<f; (cd d; exec sleep 1000) & cd d');
		rig.cli.json(['snap', 'project', 'one']);
		await shell.run('echo more >&3; rm -rf ../d ../new; echo new > ../new');
		expect(rig.cli.run(['undo', 'project', '--dry-run']).stdout).toContain('  d\n');
		expect(restore(rig, 'undo', 'project')).toMatchObject({ restored: 2, present: 3 });
		expect(await shell.run('cat $OLDPWD/f $OLDPWD/d/in; ls $OLDPWD')).toBe('one\nin\nd\nf\n');
		// a late write through a descriptor from before goes to the file from before
		expect(await shell.run('echo late >&3; cat <&4; cat $OLDPWD/f')).toBe('one\nmore\nlate\none\n');
		expect(rig.cli.run(['diff', 'project', 'one', '@']).stdout).toBe('');
		expect(rig.cli.json(['status', 'project'])).toMatchObject({ state: 'live', position: 2, changed: false });
		expect(restore(rig, 'redo', 'project')).toMatchObject({ restored: 3, present: null });
		expect(await shell.run('cd ..; cat f new; ls; kill %1')).toBe('one\nmore\nnew\nf\nnew\n');
		await shell.end();
		expect(rig.inside('cat f new; ls')).toBe('one\nmore\nnew\nf\nnew\n');
		const { snapshots } = rig.cli.json<{ snapshots: { id: number }[] }>(['list', 'project']);
		expect(snapshots.map(({ id }) => id)).toEqual([1, 2, 3]);
	});

	test('a command that has joined sees it too, and keeps what it has open', async () => {
		using rig = sessionRig(account);
		const shell = await LiveShell.start(rig);
		await shell.run('echo one > f');
		rig.cli.json(['snap', 'project']);
		const script = 'exec 3>>f; echo joined; until [ "$(cat f)" = one ]; do sleep 0.01; done; echo late >&3; cat f; ls';
		await shell.run('echo two > f; echo new > new');
		const joined = rig.cli.start(['run', 'project', '--', 'sh', '-c', script], { cwd: rig.project });
		await joined.said(/joined/);
		restore(rig, 'restore', 'project', '2');
		expect(await joined.ended).toMatchObject({ code: 0, stdout: 'joined\none\nf\n' });
		await shell.end();
		expect(rig.inside('cat f')).toBe('one\n');
	});

	test('--path, --home and refusals are those of a stopped session', async () => {
		using rig = sessionRig(account);
		rig.sh('mkdir -p a/b; echo 1 > a/b/x; echo 1 > y');
		const shell = await LiveShell.start(rig);
		await shell.run('echo 2 > a/b/x; echo 2 > y; mkdir -p n/m; echo n > n/m/n; echo mine > ~/mine');
		rig.cli.json(['snap', 'project', 'two']);
		await shell.run('echo 3 > a/b/x; echo 3 > y; rm -rf n; rm ~/mine');
		expect(restore(rig, 'restore', 'project', 'two', '--path', 'a', '--path', `${rig.project}/n/m/n`)).toMatchObject({
			restored: 2,
			present: 3,
		});
		expect(await shell.run('cat a/b/x y n/m/n; ls ~/mine 2>&1 | grep -c such')).toBe('2\n3\nn\n1\n');
		restore(rig, 'restore', 'project', 'two');
		expect(await shell.run('cat y; ls ~/mine 2>&1 | grep -c such')).toBe('2\n1\n');
		restore(rig, 'restore', 'project', 'two', '--home');
		expect(await shell.run('cat ~/mine')).toBe('mine\n');
		for (const [args, code, word] of [
			[['restore', 'project', '99', '--yes'], 5, 'unknown-ref'],
			[['restore', 'project', 'base', '--yes'], 2, 'not-a-snapshot'],
			[['restore', 'project', 'two', '--path', '/etc', '--yes'], 2, 'path-outside'],
			[['undo', 'project'], 2, 'confirmation-needed'],
		] as const) {
			const ran = rig.cli.run([...args, '--json']);
			expect({ args, code: ran.code }).toEqual({ args, code });
			expect(JSON.parse(ran.stdout || ran.stderr)).toMatchObject({ error: { code: word } });
		}
		await shell.end();
	});

	test('what a restore copied back from the base is the host’s own again when the run has ended', async () => {
		using rig = sessionRig(account);
		rig.sh('mkdir -p d/e; echo 1 > d/e/f; echo 1 > d/g; echo 1 > h; ln -s h l');
		const shell = await LiveShell.start(rig);
		await shell.run('rm -rf d; echo 2 > h; rm l; echo more > more');
		restore(rig, 'undo', 'project');
		await shell.run('echo 3 > d/g');
		rig.sh('echo host > h');
		expect(await shell.run('cat d/e/f d/g h l')).toBe('1\n3\n1\n1\n');
		expect(await shell.end()).toEqual({ code: 0, stderr: '' });
		rig.sh('echo host > d/e/f; rm l; ln -s d l');
		expect(rig.inside('cat d/e/f d/g h l/g')).toBe('1\n3\n1\n3\n');
		expect(integrityOf(rig)).toEqual([]);
	});

	test('where something else is mounted inside nothing is written, removed or uncovered', async () => {
		using rig = sessionRig(account);
		rig.sh('mkdir -p ../host/in; echo host > ../host/in/f; mkdir -p sub/bound; echo base > sub/bound/f; echo base > f');
		rig.inside('rm -rf sub; mkdir -p sub/bound; echo one > sub/bound/f; echo one > f');
		const shell = await LiveShell.start(rig, ['--bind', `${rig.place}/host/in:${rig.project}/sub/bound`]);
		expect(await shell.run('cat sub/bound/f f')).toBe('host\none\n');
		const { kept } = restore(rig, 'restore', 'project', '1');
		expect(kept).toContain('sub/bound/f');
		expect(await shell.run('cat sub/bound/f f')).toBe('host\nbase\n');
		expect(rig.sh('cat ../host/in/f')).toBe('host\n');
		await shell.end();
		expect(rig.inside('cat sub/bound/f f')).toBe('one\nbase\n');
	});

	test('a repository is sound after a live undo and redo of a commit', async () => {
		using rig = sessionRig(account);
		rig.sh('git init -q; git config user.name n; git config user.email e; seq 500 > f; git add -A; git commit -qm one');
		const shell = await LiveShell.start(rig);
		await shell.run('seq 900 > f; seq 9 > g; git add -A; git commit -qm two; git gc -q');
		restore(rig, 'undo', 'project');
		const look =
			'export GIT_OPTIONAL_LOCKS=0; git fsck --strict 2>&1; git status --porcelain; git log --format=%s; wc -l < f';
		expect(await shell.run(look)).toBe('one\n500\n');
		restore(rig, 'redo', 'project');
		expect(await shell.run(look)).toBe('two\none\n900\n');
		await shell.run('seq 3 > f; git commit -qam three');
		expect(rig.cli.run(['redo', 'project', '--yes']).stdout).toBe('nothing to redo\n');
		await shell.end();
		expect(rig.inside(look)).toBe('three\ntwo\none\n3\n');
	});

	test('restores at once come one after the other, and one that meets the end of the run is done all the same', async () => {
		using rig = sessionRig(account);
		const shell = await LiveShell.start(rig);
		await shell.run('seq 100 > f; for i in $(seq 200); do echo $i > n$i; done');
		rig.cli.json(['snap', 'project', 'two']);
		const calls = ['1', 'two', '1', 'two'].map((ref) => rig.cli.start(['restore', 'project', ref, '--yes']).ended);
		for (const call of calls) expect(await call).toMatchObject({ code: 0, stderr: '' });
		expect(['0\n', '201\n']).toContain(await shell.run('ls | wc -l'));
		const [last] = await Promise.all([rig.cli.start(['restore', 'project', 'two', '--yes']).ended, shell.end()]);
		expect(last).toMatchObject({ code: 0, stderr: '' });
		expect(rig.inside('ls | wc -l; wc -l < f')).toBe('201\n100\n');
		expect(integrityOf(rig)).toEqual([]);
	});
});
