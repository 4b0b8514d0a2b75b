import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accounts } from '../../test/support/accounts.ts';
import { ApplyRig, describeView } from '../../test/support/apply-rig.ts';
import { asAccount } from '../../test/support/as-account.ts';
import { directory, file, type MemoryTree, symlink } from '../../test/support/memory-trees.ts';
import { treeLines } from '../../test/support/tree-hash.ts';
import { Refusal } from '../base/refusal.ts';
import { lastApply, listApplies } from './applied-record.ts';
import { isNothingToApply, summarizeApply } from './plan-apply.ts';
import { undoApply } from './resume-apply.ts';
import { writeApply } from './write-host.ts';

const BASE: MemoryTree = {
	a: file('a\n'),
	d: directory(),
	'd/old': file('old'),
	'd/same': file('same'),
	s: symlink('a'),
};

function refusal(act: () => unknown): Refusal {
	try {
		act();
	} catch (error) {
		if (error instanceof Refusal) return error;
		throw error;
	}
	throw new Error('nothing was refused');
}

describe.each(accounts())('writeApply as $name', (account) => {
	it.each<[what: string, layer: MemoryTree]>([
		[
			'changed, added and removed files',
			{ a: file('b\n'), n: file('new', { mode: 0o755 }), d: directory(), 'd/old': 'whiteout' },
		],
		['a directory that was deleted', { d: 'whiteout' }],
		['a directory that was made anew', { d: directory({ opaque: true, mode: 0o700 }), 'd/new': file('new') }],
		[
			'a directory that was made anew with what it had',
			{ d: directory({ opaque: true }), 'd/old': file('old'), 'd/same': file('same') },
		],
		['a file that became a directory, and the other way', { a: directory(), 'a/x': file('x'), d: file('d') }],
		['a link that became a file', { s: file('s') }],
		['a file that was only touched', { a: file('a\n', { mtime: { sec: 1_800_000_000, nsec: 7 } }) }],
		['a mode alone', { a: file('a\n', { mode: 0o600 }) }],
		['deep new directories', { x: directory(), 'x/y': directory(), 'x/y/z': file('z') }],
	])('makes the host what the session shows, and the diff empty: %s', (_, layer) => {
		asAccount(account, () => {
			using rig = new ApplyRig(BASE);
			const first = describeView(rig.view());
			const applied = rig.run(layer);
			const shown = describeView(rig.view());
			rig.apply();
			expect(describeView(rig.view('base'))).toEqual(shown);
			expect(describeView(rig.view())).toEqual(shown);
			expect(rig.diff()).toEqual([]);
			expect([...rig.view().layerPaths()]).toEqual([]);
			expect(describeView(rig.view(applied))).toEqual(shown);
			expect(describeView(rig.view(1))).toEqual(first);
			expect(isNothingToApply(rig.plan())).toBe(true);
		});
	});

	it('works in directories that deny their owner access, and leaves them so', () => {
		asAccount(account, () => {
			using rig = new ApplyRig({ d: directory({ mode: 0o500 }), 'd/a': file('a') });
			rig.run({ d: directory({ mode: 0o500 }), 'd/a': file('b') });
			rig.apply();
			expect(rig.view('base').stat('d')?.mode).toBe(0o500);
			expect(rig.diff()).toEqual([]);
			undoApply(rig.store, rig.hosted, { clock: rig.clock });
			expect(rig.view('base').stat('d/a')?.size).toBe(1);
			chmodSync(join(rig.base, 'd'), 0o700);
		});
	});
});

describe('writeApply', () => {
	it('gives the root directory the mode and time that the session gave it, and undo takes them back', () => {
		using rig = new ApplyRig(BASE);
		const before = treeLines(rig.base);
		const mtime = { sec: 1_650_000_000, nsec: 9 };
		rig.run({ '': directory({ mode: 0o710, mtime }), n: file('n') });
		rig.apply();
		expect(rig.view('base').stat('')).toMatchObject({ mode: 0o710, mtime });
		expect(isNothingToApply(rig.plan())).toBe(true);
		undoApply(rig.store, rig.hosted, { clock: rig.clock });
		expect(treeLines(rig.base)).toEqual(before);
	});

	it('remembers no apply that had nothing to write, but reads the host where both are the same', () => {
		using rig = new ApplyRig(BASE);
		rig.run({ a: file('a\n') });
		rig.apply();
		expect(listApplies(rig.store)).toEqual([]);
		expect([...rig.view().layerPaths()]).toEqual([]);
	});

	it('keeps hard links', () => {
		using rig = new ApplyRig(BASE);
		const both = file('both');
		rig.run({ a: both, d: directory(), 'd/b': both });
		rig.apply();
		expect(lstatSync(join(rig.base, 'a')).ino).toBe(lstatSync(join(rig.base, 'd/b')).ino);
	});

	it('writes nothing when one path is in conflict', () => {
		using rig = new ApplyRig(BASE);
		rig.run({ a: file('ours\n'), n: file('new') });
		writeFileSync(join(rig.base, 'a'), 'theirs\n');
		const before = treeLines(rig.base);
		expect(refusal(() => rig.apply())).toMatchObject({
			kind: 'conflict',
			details: { conflicts: [{ root: 'project', path: 'a' }] },
		});
		expect(treeLines(rig.base)).toEqual(before);
		expect(listApplies(rig.store)).toEqual([]);
	});

	it('merges what both changed in different lines', () => {
		using rig = new ApplyRig({ a: file('1\n2\n3\n4\n5\n') });
		rig.run({ a: file('one\n2\n3\n4\n5\n') });
		writeFileSync(join(rig.base, 'a'), '1\n2\n3\n4\nfive\n');
		const plan = rig.plan();
		expect(summarizeApply(plan, true)).toEqual({
			applied: 1,
			removed: 0,
			merged: 1,
			conflicts: [],
			executableSurface: [],
			dryRun: true,
		});
		writeApply(rig.store, plan, { clock: rig.clock });
		expect(readFileSync(join(rig.base, 'a'), 'utf8')).toBe('one\n2\n3\n4\nfive\n');
		expect(rig.diff()).toEqual([]);
	});

	it('does not delete what appeared in a directory that the session deleted', () => {
		using rig = new ApplyRig(BASE);
		rig.run({ d: 'whiteout' });
		writeFileSync(join(rig.base, 'd/new'), 'new');
		expect(refusal(() => rig.apply()).details).toMatchObject({
			conflicts: expect.arrayContaining([expect.objectContaining({ path: 'd/new' })]),
		});
		rig.apply({ resolve: 'theirs' });
		expect(readFileSync(join(rig.base, 'd/new'), 'utf8')).toBe('new');
		expect(rig.diff()).toEqual([]);
	});

	it('applies what is selected and leaves the rest as a change', () => {
		using rig = new ApplyRig(BASE);
		rig.run({ a: file('b\n'), d: directory({ opaque: true }), 'd/x': file('x'), 'd/y': file('y') });
		const shown = describeView(rig.view());
		rig.apply({ only: ['d/x'] });
		expect(readFileSync(join(rig.base, 'd/x'), 'utf8')).toBe('x');
		expect(rig.diff()).toEqual(['removed d/old', 'removed d/same', 'modified a', 'added d/y']);
		expect(describeView(rig.view())).toEqual(shown);
		rig.apply({ only: ['d'] });
		expect(rig.diff()).toEqual(['modified a']);
		rig.apply();
		expect(describeView(rig.view('base'))).toEqual(shown);
	});

	it('keeps the row of a directory in which the present still differs from the older snapshot that is applied', () => {
		using rig = new ApplyRig(BASE);
		const older = rig.run({ d: directory(), 'd/new': file('new') });
		rig.run({ d: directory() });
		const shown = describeView(rig.view());
		const wanted = describeView(rig.view(older));
		rig.apply({ snapshot: older });
		expect(describeView(rig.view('base'))).toEqual(wanted);
		expect(describeView(rig.view())).toEqual(shown);
	});

	it('applies an older snapshot, and the present goes on reading as it did', () => {
		using rig = new ApplyRig(BASE);
		const older = rig.run({ a: file('older\n'), n: file('n') });
		rig.run({ a: file('newer\n') });
		const shown = describeView(rig.view());
		const then = describeView(rig.view(older));
		rig.apply({ snapshot: older });
		expect(describeView(rig.view('base'))).toEqual(then);
		expect(describeView(rig.view())).toEqual(shown);
		expect(rig.diff()).toEqual(['removed n', 'modified a']);
		rig.apply();
		expect(describeView(rig.view('base'))).toEqual(shown);
		expect(describeView(rig.view(older))).toEqual(then);
	});

	it('applies again and again, each time from where the host is', () => {
		using rig = new ApplyRig(BASE);
		for (const text of ['one', 'two', 'three']) {
			rig.run({ a: file(text), d: directory(), 'd/x': file(text) });
			rig.apply();
			expect(readFileSync(join(rig.base, 'a'), 'utf8')).toBe(text);
		}
		rig.run({ d: 'whiteout' });
		rig.apply();
		expect(existsSync(join(rig.base, 'd'))).toBe(false);
	});

	it('gives up, with the host as it was, when the host changes under its hands', () => {
		using rig = new ApplyRig(BASE);
		rig.run({ a: file('b\n'), n: file('n'), z: file('z') });
		const plan = rig.plan();
		writeFileSync(join(rig.base, 'z'), 'mine');
		expect(refusal(() => writeApply(rig.store, plan, { clock: rig.clock }))).toMatchObject({ kind: 'drifted' });
		expect(readFileSync(join(rig.base, 'z'), 'utf8')).toBe('mine');
		expect(readFileSync(join(rig.base, 'a'), 'utf8')).toBe('a\n');
		expect(existsSync(join(rig.base, 'n'))).toBe(false);
		expect(listApplies(rig.store).map(({ state }) => state)).toEqual(['aborted']);
		expect(rig.diff()).toEqual(['modified a', 'added n', 'modified z']);
	});

	it('leaves the rows of a live session alone', () => {
		using rig = new ApplyRig(BASE);
		rig.run({ a: file('b\n') });
		writeApply(rig.store, rig.plan(), { clock: rig.clock, isLive: true });
		expect([...rig.view().layerPaths()]).toEqual(['a']);
		expect(rig.diff()).toEqual([]);
	});
});

describe('undoApply', () => {
	it('puts the host back as it was, and the session has its changes again', () => {
		using rig = new ApplyRig(BASE);
		linkSync(join(rig.base, 'd/old'), join(rig.base, 'd/linked'));
		chmodSync(join(rig.base, 'd'), 0o750);
		const before = treeLines(rig.base);
		rig.run({ a: directory(), 'a/x': file('x'), d: directory({ opaque: true }), 'd/new': file('new'), s: 'whiteout' });
		const shown = describeView(rig.view());
		const differed = rig.diff();
		rig.apply();
		undoApply(rig.store, rig.hosted, { clock: rig.clock });
		expect(treeLines(rig.base)).toEqual(before);
		expect(describeView(rig.view())).toEqual(shown);
		expect(rig.diff()).toEqual(differed);
		expect(lastApply(rig.store)).toBeNull();
		rig.apply();
		expect(describeView(rig.view('base'))).toEqual(shown);
	});

	it('keeps the snapshots in between as they read', () => {
		using rig = new ApplyRig(BASE);
		rig.run({ a: file('b\n'), d: 'whiteout' });
		rig.apply();
		const between = rig.run({ n: file('n') });
		const shown = describeView(rig.view(between));
		undoApply(rig.store, rig.hosted, { clock: rig.clock });
		expect(describeView(rig.view(between))).toEqual(shown);
		expect(describeView(rig.view())).toEqual(shown);
	});

	it('refuses when the host changed since, and changes nothing', () => {
		using rig = new ApplyRig(BASE);
		rig.run({ x: directory(), 'x/y': file('y') });
		rig.apply();
		mkdirSync(join(rig.base, 'x/mine'));
		expect(refusal(() => undoApply(rig.store, rig.hosted, { clock: rig.clock }))).toMatchObject({ kind: 'drifted' });
		expect(existsSync(join(rig.base, 'x/y'))).toBe(true);
	});

	it('has nothing to undo when nothing was applied', () => {
		using rig = new ApplyRig(BASE);
		expect(refusal(() => undoApply(rig.store, rig.hosted, { clock: rig.clock })).code).toBe('nothing-applied');
	});
});
