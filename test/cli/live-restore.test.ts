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

describe.each(accounts())('as $name', (account) => {
	test('whatever was done inside, a live restore, undo or redo shows the snapshot’s tree at once', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 40 }), (steps) => play(steps)),
			{ numRuns: 2, endOnFailure: true },
		);
	});

	async function play(steps: readonly Step[]): Promise<void> {
		using rig = sessionRig(account);
		rig.sh(BASE);
		const shell = await LiveShell.start(rig);
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
});
