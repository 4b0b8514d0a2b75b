import { afterAll, beforeAll, expect, test } from 'vitest';
import { whyNoPowerCut } from '../support/power-cut.ts';
import { BEFORE, type PowerCuts, PROJECT_BEFORE, powerCuts } from '../support/power-cut-rounds.ts';

const ROUNDS = 12;
const why = whyNoPowerCut();
let cuts: PowerCuts;

beforeAll(() => {
	if (why === null) cuts = powerCuts();
});
afterAll(() => cuts?.[Symbol.dispose]());

const NOW = 'later=5 one=1 two=2';
const SECOND = 'one=1 two=2';

/** Command lines, with every state of the layer that a cut may leave, and whether a snapshot of it may have come. */
const LINES: readonly { line: string; path: string; states: readonly string[] }[] = [
	{ line: 'dropcloth snap . tag', path: '/session.db', states: [NOW] },
	{
		line: "dropcloth quick . -- sh -c 'rm base; seq 30000 > three'",
		path: '/mnt/',
		states: [NOW, 'base! later=5 one=1 three=% two=2'],
	},
	{ line: 'dropcloth restore . 2 --yes', path: '/mnt/', states: [NOW, SECOND] },
	{ line: 'dropcloth undo . --yes', path: '/mnt/', states: [NOW, SECOND] },
	{ line: 'dropcloth gc . --keep-last 1', path: '/mnt/', states: [NOW] },
	{ line: 'dropcloth apply . --yes', path: '/mnt/', states: [NOW, ''] },
];

test.for(LINES)(
	'wherever the power is cut in `$line`, the session is as before or as after',
	async (round, context) => {
		if (why !== null) context.skip(why);
		const { line, path, states } = round;
		for (let at = 0; at < ROUNDS; at++) {
			const part = (at + Math.random()) / ROUNDS;
			await cuts.within({ line, path, part });
			const what = `${line}, at ${part}`;
			const { snapshots, now, damage } = cuts.found();
			expect(damage, what).toEqual([]);
			expect(states, what).toContain(now.replace(/three=.*?(?= two)/s, 'three=%'));
			expect(snapshots.length, what).toBeLessThanOrEqual(BEFORE.length + 1);
			if (!line.includes(' gc ') && !line.includes(' apply ')) {
				expect(snapshots.slice(0, BEFORE.length), what).toEqual(BEFORE);
			}
			if (line.includes(' apply ')) {
				cuts.machine.here('dropcloth apply . --abort || dropcloth apply . --yes');
				expect([PROJECT_BEFORE, `${PROJECT_BEFORE} ${NOW}`], what).toContain(cuts.project());
				expect(cuts.inside(), what).toBe(`${PROJECT_BEFORE} ${NOW}`);
				continue;
			}
			const seen = now.replaceAll('base! ', '');
			expect(cuts.inside(), what).toBe(now.startsWith('base!') ? seen : `${PROJECT_BEFORE} ${seen}`);
			expect(cuts.project(), what).toBe(PROJECT_BEFORE);
		}
	},
);
