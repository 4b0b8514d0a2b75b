import { afterAll, beforeAll, expect, test } from 'vitest';
import { askOwnerPatiently } from '../../src/session/ask-owner-patiently.ts';
import { placeInStore } from '../../src/session/session-place.ts';
import { presentAccount } from '../support/accounts.ts';
import { type BundledProgram, bundledProgram } from '../support/bundled-program.ts';
import { LiveShell } from '../support/live-shell.ts';
import { integrityOf, type SessionRig, sessionRig, TREE_SCRIPT } from '../support/session-rig.ts';

let program: BundledProgram;
beforeAll(async () => {
	program = await bundledProgram('test/support/crashing-program.ts');
});
afterAll(() => program[Symbol.asyncDispose]());

const SEEN = `(${TREE_SCRIPT})`;
const OLD = 'echo old > f; rm -rf d; echo old > gone; ln -sfn f link';
const NEW = 'echo new > f; mkdir -p d; echo d > d/d; rm -rf gone base/in; ln -sfn d link';

// every step is a run, a kill and two recoveries
const PATIENCE_MS = 300_000;

test(
	'an owner that is killed at any step of a live restore leaves the state before or after, and both are kept',
	async () => {
		using rig = sessionRig(presentAccount());
		rig.sh('mkdir base; echo in > base/in');
		rig.inside(OLD);
		const old = rig.inside(SEEN);
		const found = new Set<string>();
		let survived = false;
		for (let count = 1; !survived; count++) {
			const shell = await LiveShell.start(rig, [], program.path);
			await shell.run(NEW);
			const before = await shell.run(SEEN);
			await shell.arm(count);
			survived = await ask(rig);
			if (survived) {
				expect(await shell.run(SEEN)).toBe(old);
				await shell.end();
			}
			const state = rig.inside(SEEN);
			await shell.ended;
			expect([before, old], `step ${count}`).toContain(state);
			found.add(state === old ? 'after' : 'before');
			expect(integrityOf(rig), `step ${count}`).toEqual([]);
			const ids = rig.cli.json<{ snapshots: { id: number }[] }>(['list', 'project']).snapshots.map(({ id }) => id);
			if (state === old) {
				rig.cli.json(['restore', 'project', String(Math.max(...ids)), '--yes']);
				expect(rig.inside(SEEN), `step ${count}`).toBe(before);
			}
		}
		expect([...found].sort()).toEqual(['after', 'before']);
	},
	PATIENCE_MS,
);

/** False when the owner was killed over it. */
async function ask({ cli, project }: SessionRig): Promise<boolean> {
	const restore = { aim: { ref: '2' }, paths: [], cwd: project, home: false };
	const place = placeInStore(cli.storePath, 'project');
	return (await askOwnerPatiently(place, { verb: 'restore', restore, dryRun: false, expected: null })) !== null;
}
