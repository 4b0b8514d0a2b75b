import { describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { type SessionRig, sessionRig, TREE_SCRIPT } from '../support/session-rig.ts';
import { treeLines } from '../support/tree-hash.ts';

const GIT = 'git -c user.name=n -c user.email=e@localhost -c safe.directory=*';

/** What an agent does, step by step; each step makes a snapshot. */
const STEPS = [
	`${GIT} switch -qc work; echo 2 >> src/a; chmod 755 src/a; ${GIT} commit -qam two`,
	'rm -r docs; mkdir docs; echo new > docs/new; ln -s ../src/a docs/link; ln src/a src/a2; mkfifo pipe',
	`echo dirty >> src/b; ${GIT} stash -q; ${GIT} stash pop -q; ${GIT} gc -q; ${GIT} worktree add -q wt -b other; rm -r wt; ${GIT} worktree prune`,
	'truncate -s 10M sparse; printf x | dd of=sparse bs=1 seek=5000000 conv=notrunc status=none; setfattr -n user.k -v v src/b; touch -d "2001-02-03 04:05:06.789012345" src/b',
	'rm -rf .git * .[!.]*',
];

function makeProject({ sh }: SessionRig): void {
	sh(
		`${GIT} init -q .; mkdir -p src docs/deep; echo 1 > src/a; echo b > src/b; echo d > docs/d; echo e > docs/deep/e; ${GIT} add -A; ${GIT} commit -qm one`,
	);
}

describe.each(accounts())('as $name', (account) => {
	test('an agent does what it wants, the project stays as it was, and every state comes back', () => {
		using rig = sessionRig(account);
		makeProject(rig);
		// the store's own directory is the one thing that is made in home
		rig.sh(`mkdir -p ${rig.cli.storePath}`);
		const host = () => treeLines(rig.place, { except: [rig.cli.storePath] });
		const before = host();

		const states = [rig.inside(TREE_SCRIPT), ...STEPS.map((step) => rig.inside(`${step}; ${TREE_SCRIPT}`))];
		expect(states.at(-1)?.trim()).toBe('');
		expect(host()).toEqual(before);

		const { snapshots } = rig.cli.json<{ snapshots: { id: number; trigger: string }[] }>(['list', 'project']);
		expect(snapshots.map(({ id, trigger }) => `${id} ${trigger}`)).toEqual([
			'1 start',
			'2 exit',
			'3 exit',
			'4 exit',
			'5 exit',
			'6 exit',
		]);

		for (const back of [4, 3, 2, 1, 0]) {
			rig.cli.json(['undo', 'project', '--yes']);
			expect(rig.inside(TREE_SCRIPT), `state ${back}`).toBe(states[back]);
		}
		expect(rig.cli.run(['undo', 'project', '--yes']).stdout).toContain('nothing to undo');
		for (const forth of [1, 2, 3, 4, 5]) {
			rig.cli.json(['redo', 'project', '--yes']);
			expect(rig.inside(TREE_SCRIPT), `state ${forth}`).toBe(states[forth]);
		}
		rig.cli.json(['restore', 'project', '4', '--yes']);
		expect(rig.inside(`${GIT} fsck --no-progress --strict; ${TREE_SCRIPT}`)).toContain(states[3]);
		expect(host()).toEqual(before);
	});

	test('applying a state makes the directory equal to it, and older snapshots read as they did', () => {
		using rig = sessionRig(account);
		makeProject(rig);
		const states = STEPS.slice(0, 4).map((step) => rig.inside(`${step}; ${TREE_SCRIPT}`));
		rig.cli.json(['restore', 'project', '4', '--yes']);

		rig.cli.json(['apply', 'project', '--yes', '--allow-exec']);
		expect(rig.sh(TREE_SCRIPT)).toBe(states[2]);
		expect(rig.cli.json<{ changes: unknown[] }>(['diff', 'project']).changes).toEqual([]);
		expect(rig.cli.run(['apply', 'project']).stdout).toContain('nothing to apply');
		expect(rig.sh(`${GIT} fsck --no-progress --strict; ${GIT} status --porcelain`)).toBe(
			rig.inside(`${GIT} fsck --no-progress --strict; ${GIT} status --porcelain`),
		);

		rig.cli.json(['restore', 'project', '2', '--yes']);
		expect(rig.inside(TREE_SCRIPT)).toBe(states[0]);
		rig.cli.json(['restore', 'project', '1', '--yes']);
		expect(rig.inside('cat src/a docs/d docs/deep/e')).toBe('1\nd\ne\n');
	});
});
