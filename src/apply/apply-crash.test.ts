import { spawnSync } from 'node:child_process';
import { linkSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApplyRig, describeView } from '../../test/support/apply-rig.ts';
import { type BundledProgram, bundledProgram } from '../../test/support/bundled-program.ts';
import { directory, file, type MemoryTree, symlink } from '../../test/support/memory-trees.ts';
import { treeLines } from '../../test/support/tree-hash.ts';
import type { MergedView } from '../vfs/merged-view.ts';
import { interruptedApply } from './applied-record.ts';
import { abortApply, continueApply, undoApply } from './resume-apply.ts';
import { refuseInterrupted } from './write-host.ts';

const BASE: MemoryTree = {
	changed: file('before\n'),
	gone: directory(),
	'gone/a': file('a'),
	merged: file('1\n2\n3\n'),
	turned: file('file'),
	kept: directory(),
	'kept/mode': file('mode'),
};
const linked = file('linked');
const LAYER: MemoryTree = {
	changed: file('after\n', { mode: 0o600 }),
	gone: 'whiteout',
	merged: file('one\n2\n3\n'),
	turned: directory(),
	'turned/x': linked,
	link: linked,
	pointer: symlink('kept'),
	kept: directory(),
	'kept/mode': file('mode', { mode: 0o755 }),
};

let place: string;
let program: BundledProgram;
beforeAll(async () => {
	place = mkdtempSync(join(tmpdir(), 'dropcloth-crash-'));
	program = await bundledProgram('test/support/apply-child.ts');
});
afterAll(async () => {
	await program[Symbol.asyncDispose]();
	rmSync(place, { recursive: true, force: true });
});

describe('an apply that is killed', () => {
	it('at any write is found, and made whole or taken back, with nothing in between and nothing lost', () => {
		const start = join(place, 'start');
		const states = prepare(start);
		const points = run(copy(start), 'apply', Number.POSITIVE_INFINITY) ?? 0;
		expect(points).toBeGreaterThan(15);
		for (let point = 1; point <= points; point += 1) {
			const killed = copy(start);
			expect(run(killed, 'apply', point), `killed at ${point}`).toBeNull();
			const aborted = copy(killed);
			expectWhole(killed, states, point);
			expectTakenBack(aborted, states, point);
		}
	}, 240_000);

	it('can be killed again while it is made whole or taken back', () => {
		const start = join(place, 'again');
		const states = prepare(start);
		const points = run(copy(start), 'apply', Number.POSITIVE_INFINITY) ?? 0;
		const half = copy(start);
		expect(run(half, 'apply', Math.floor(points * 0.7))).toBeNull();
		for (const what of ['continue', 'abort'] as const) {
			for (let point = 1; ; point += 3) {
				const killed = copy(half);
				if (run(killed, what, point) !== null) break;
				expectWhole(copy(killed), states, point);
				expectTakenBack(killed, states, point);
			}
		}
	}, 240_000);
});

describe('an undo that is killed', () => {
	it('is made whole or taken back', () => {
		const start = join(place, 'undo');
		const states = prepare(start);
		run(start, 'apply', Number.POSITIVE_INFINITY);
		for (let point = 1; ; point += 2) {
			const killed = copy(start);
			if (run(killed, 'undo', point) !== null) break;
			const aborted = copy(killed);
			recover(killed, (rig) => {
				if (interruptedApply(rig.store) !== null) continueApply(rig.store, rig.hosted, { clock: rig.clock });
				else if (rig.diff().length === 0) undoApply(rig.store, rig.hosted, { clock: rig.clock });
				expect(treeLines(rig.base), `undo killed at ${point}`).toEqual(states.before);
				expect(readable(rig.view())).toEqual(states.shown);
			});
			recover(aborted, (rig) => {
				if (interruptedApply(rig.store) === null) return;
				abortApply(rig.store, rig.hosted);
				expect(readable(rig.view('base')), `undo taken back at ${point}`).toEqual(states.after);
				expect(rig.diff()).toEqual([]);
			});
		}
	}, 240_000);
});

interface States {
	/** The host before, in every detail. */
	readonly before: string[];
	/** What the session shows, before as after. */
	readonly shown: Record<string, string>;
	/** The host after, as a reader sees it. */
	readonly after: Record<string, string>;
}

/** A session that is ready to be applied, and what must come of it. */
function prepare(at: string): States {
	const rig = new ApplyRig(BASE);
	linkSync(join(rig.base, 'gone/a'), join(rig.base, 'gone/b'));
	rig.run(LAYER);
	rig.edit({ merged: file('1\n2\nthree\n') });
	rig.close();
	copyTo(rig.place, at);
	rmSync(rig.place, { recursive: true });
	const before = treeLines(join(at, 'base'));
	const whole = copy(at);
	run(whole, 'apply', Number.POSITIVE_INFINITY);
	const { shown, after } = recover(copy(whole), (done) => ({
		shown: readable(done.view()),
		after: readable(done.view('base')),
	}));
	expect(after['merged']).toContain('one\n2\nthree\n');
	return { before, shown, after };
}

/** What a reader sees, the time of a merge aside. */
function readable(view: MergedView): Record<string, string> {
	const lines = describeView(view);
	return { ...lines, merged: lines['merged']?.replace(/\d+\.\d+/, '') ?? '' };
}

function expectWhole(at: string, { after, before }: States, point: number): void {
	recover(at, (rig) => {
		if (interruptedApply(rig.store) === null) {
			// Killed before anything was noted, or after all was done.
			if (rig.diff().length > 0) expect(treeLines(rig.base), `killed at ${point}`).toEqual(before);
			else expect(readable(rig.view('base')), `killed at ${point}`).toEqual(after);
			return;
		}
		expect(() => refuseInterrupted(rig.store)).toThrowError(/interrupted apply/);
		continueApply(rig.store, rig.hosted, { clock: rig.clock });
		expect(readable(rig.view('base')), `continued from ${point}`).toEqual(after);
		expect(readable(rig.view()), `continued from ${point}`).toEqual(after);
		expect(rig.diff()).toEqual([]);
		expect(treeLines(rig.base).filter((line) => line.includes('.dropcloth'))).toEqual([]);
		undoApply(rig.store, rig.hosted, { clock: rig.clock });
		expect(treeLines(rig.base), `undone after ${point}`).toEqual(before);
	});
}

function expectTakenBack(at: string, { after, before }: States, point: number): void {
	recover(at, (rig) => {
		if (interruptedApply(rig.store) === null) return;
		abortApply(rig.store, rig.hosted);
		expect(treeLines(rig.base), `taken back from ${point}`).toEqual(before);
		rig.apply();
		expect(readable(rig.view('base')), `applied again after ${point}`).toEqual(after);
	});
}

function recover<T>(at: string, work: (rig: ApplyRig) => T): T {
	using rig = new ApplyRig({ opened: at });
	return work(rig);
}

let copies = 0;

function copy(from: string): string {
	copies += 1;
	const to = join(place, `copy${copies}`);
	copyTo(from, to);
	return to;
}

/** With hard links and times; the host's change times are new, which the session must take for no change. */
function copyTo(from: string, to: string): void {
	const { status, stderr } = spawnSync('cp', ['-a', from, to]);
	if (status !== 0) throw new Error(`cp: ${stderr}`);
}

/** How many crash points it passed; null when it was killed at one. */
function run(at: string, what: 'apply' | 'continue' | 'abort' | 'undo', point: number): number | null {
	const { status, signal, stdout, stderr } = spawnSync(execPath, [program.path, at, what, String(point)], {
		encoding: 'utf8',
	});
	if (signal === 'SIGKILL') return null;
	if (status !== 0) throw new Error(`${what} at ${point}: ${stderr}`);
	return Number(stdout);
}
