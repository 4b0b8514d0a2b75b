import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { whyNoPowerCut } from '../support/power-cut.ts';
import { BEFORE, type PowerCuts, PROJECT_BEFORE, powerCuts, UPPERS } from '../support/power-cut-rounds.ts';

const why = whyNoPowerCut();
// a guest needs some seconds, and on a machine that has much to do a minute
vi.setConfig({ testTimeout: 300_000 });
let cuts: PowerCuts;

beforeAll(() => {
	if (why === null) cuts = powerCuts();
});
beforeEach((context) => {
	if (why !== null) context.skip(why);
});
afterAll(() => cuts?.[Symbol.dispose]());

test('a run that ended is there, and the layer is laid out anew from it', async () => {
	await cuts.at(/\[ran\]/, "dropcloth quick . -- sh -c 'rm base; echo 3 > three; mkdir d; echo 4 > d/four'; mark ran");
	const { snapshots, damage } = cuts.found();
	expect(snapshots).toEqual([...BEFORE, ['exit', null, 'base! d/ d/four=4 later=5 one=1 three=3 two=2']]);
	expect(damage).toEqual([]);
	// files that were written without a sync may hold zeros after a power cut
	cuts.machine.here(`for f in ${UPPERS}/three ${UPPERS}/d/four; do [ ! -e $f ] || echo 0 > $f; done`);
	expect(cuts.inside()).toBe('d/four=4 later=5 one=1 three=3 two=2');
	expect(cuts.project()).toBe(PROJECT_BEFORE);
});

test('a snapshot of a stopped session that was reported is there', async () => {
	await cuts.at(/\[snapped\]/, 'dropcloth snap . tag; mark snapped');
	const { snapshots, damage } = cuts.found();
	expect(snapshots).toEqual([...BEFORE, ['manual', 'tag', 'later=5 one=1 two=2']]);
	expect(damage).toEqual([]);
	expect(cuts.inside()).toBe('base=0 later=5 one=1 two=2');
});

test('of a run that goes on, what was reported is there, and its layer is set aside', async () => {
	await cuts.at(
		/\[written\]/,
		`mkfifo $HOME/in $HOME/out
		dropcloth quick . -- sh -c 'echo 3 > three; echo; read _; echo 4 > four; sync; echo; read _' < $HOME/in > $HOME/out &
		exec 3> $HOME/in 4< $HOME/out
		read _ <&4; dropcloth snap . live; echo >&3; read _ <&4; mark written; sleep 1000`,
	);
	const { snapshots, damage } = cuts.found();
	expect(snapshots).toEqual([...BEFORE, ['manual', 'live', 'later=5 one=1 three=3 two=2']]);
	expect(damage).toEqual([]);
	expect(cuts.inside()).toBe('base=0 later=5 one=1 three=3 two=2');
	expect(cuts.layers()).toEqual(['1.kept', '2']);
});

test('an apply that ended is on the host’s disk, and older snapshots read as they did', async () => {
	await cuts.at(/\[applied\]/, 'dropcloth apply . --yes; mark applied');
	expect(cuts.found().damage).toEqual([]);
	expect(cuts.project()).toBe('base=0 later=5 one=1 two=2');
	expect(cuts.inside()).toBe('base=0 later=5 one=1 two=2');
	cuts.machine.here('dropcloth restore . 2 --yes');
	expect(cuts.inside()).toBe('base=0 one=1 two=2');
});

test('in the middle of a snapshot, it is there or it is not', async () => {
	await cuts.within({ line: 'dropcloth snap . tag', path: '/session.db', part: 0.6 });
	const { snapshots, now, damage } = cuts.found();
	expect([BEFORE, [...BEFORE, ['manual', 'tag', now]]]).toContainEqual(snapshots);
	expect(now).toBe('later=5 one=1 two=2');
	expect(damage).toEqual([]);
});

test('while a run is taken in, all of it is there or nothing', async () => {
	const line = "dropcloth quick . -- sh -c 'rm base; echo 3 > three'";
	await cuts.within({ line, path: '/session.db', part: 0.6 });
	const { snapshots, now, damage } = cuts.found();
	const after = 'base! later=5 one=1 three=3 two=2';
	expect([BEFORE, [...BEFORE, ['exit', null, after]]]).toContainEqual(snapshots);
	expect(snapshots.at(-1)?.[2]).toBe(now);
	expect(damage).toEqual([]);
	expect(cuts.inside()).toBe(now === after ? 'later=5 one=1 three=3 two=2' : 'base=0 later=5 one=1 two=2');
});

test('in the middle of a restore, the present is the one before or the one after', async () => {
	await cuts.within({ line: 'dropcloth restore . 2 --yes', path: '/session.db', part: 0.6 });
	const { snapshots, now, damage } = cuts.found();
	expect(snapshots).toEqual(BEFORE);
	expect(['later=5 one=1 two=2', 'one=1 two=2']).toContain(now);
	expect(damage).toEqual([]);
	expect(cuts.inside()).toBe(`base=0 ${now}`);
});

test('in the middle of an apply, it can be taken back, and done again', async () => {
	await cuts.within({ line: 'dropcloth apply . --yes', path: '/mnt/project/', part: 0.6 });
	expect(cuts.found().damage).toEqual([]);
	cuts.machine.here('dropcloth apply . --abort');
	expect(cuts.project()).toBe(PROJECT_BEFORE);
	expect(cuts.inside()).toBe('base=0 later=5 one=1 two=2');
	cuts.machine.here('dropcloth apply . --yes');
	expect(cuts.project()).toBe('base=0 later=5 one=1 two=2');
	expect(cuts.found().damage).toEqual([]);
});
