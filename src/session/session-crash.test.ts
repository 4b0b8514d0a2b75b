import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BundledProgram, bundledProgram } from '../../test/support/bundled-program.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { treeLines } from '../../test/support/tree-hash.ts';
import { checkIntegrity } from '../store/integrity.ts';
import { KernelLive } from './kernel-live.ts';
import { upperPath } from './layer-place.ts';
import { OwnedSession } from './session.ts';
import { placeInStore, type SessionPlace } from './session-place.ts';
import { takeSnapshot } from './snapshot-session.ts';

let program: BundledProgram;
beforeAll(async () => {
	program = await bundledProgram('test/support/session-child.ts');
});
afterAll(() => program[Symbol.asyncDispose]());

/** What each does and the states that it leads from and to: `layer` is what was written inside, `old` is snapshot 2. */
const WORK = [
	{ what: 'open', from: 'new', to: 'new' },
	{ what: 'snap', from: 'new', to: 'new' },
	{ what: 'restore', from: 'new', to: 'old' },
	{ what: 'lay-out', from: 'new', to: 'new' },
] as const;

describe.each(WORK)('$what', ({ what, from, to }) => {
	test('killed at any step leaves the state before or the state after, in the store and in the layer', async () => {
		const seen = new Set<string>();
		for (let count = 1; ; count++) {
			using directory = temporaryDirectory();
			const { place, states } = await makeSession(directory.path);
			const child = spawnSync(process.execPath, [program.path, join(directory.path, 'store'), what, String(count)], {
				encoding: 'utf8',
			});
			expect(child.signal ?? child.stderr).toBe(child.signal === null ? '' : 'SIGKILL');

			const found = await lookAt(place);
			expect(found.integrity, `step ${count}`).toEqual([]);
			const state = Object.entries(states).find(
				([, lines]) => JSON.stringify(lines) === JSON.stringify(found.upper),
			)?.[0];
			if (state === undefined) expect(found.upper, `step ${count}`).toEqual(states[to]);
			expect([from, to], `step ${count}`).toContain(state);
			expect(found.snapshots.slice(0, 2)).toEqual([1, 2]);
			// what was written inside is in a snapshot, once it is not the present any more
			if (state === 'old') expect(found.snapshots.length).toBeGreaterThan(2);
			seen.add(state as string);
			if (child.signal === null) {
				expect(state).toBe(to);
				break;
			}
		}
		expect(seen).toEqual(new Set([from, to]));
	});
});

/** A session with a snapshot (2) of `old`, and a layer in which somebody wrote `new` that the store does not know yet. */
async function makeSession(
	directory: string,
): Promise<{ place: SessionPlace; states: Record<'old' | 'new', readonly string[]> }> {
	const base = join(directory, 'base');
	mkdirSync(base);
	const place = placeInStore(join(directory, 'store'), 's');
	const session = await OwnedSession.create(place, base);
	session.live = KernelLive.fromStore(place, session.store);
	const upper = upperPath(session.live.place, 'project');
	session.close();

	for (const name of ['kept', 'changed', 'gone']) writeFileSync(join(upper, name), `old ${name}`);
	mkdirSync(join(upper, 'directory'));
	writeFileSync(join(upper, 'directory/inner'), 'old inner');
	rmSync(join(place.layersPath, 'ready'));
	const second = await OwnedSession.open(place, () => {});
	takeSnapshot(second, { trigger: 'manual' });
	const old = contentLines(upper);
	second.close();

	writeFileSync(join(upper, 'changed'), 'new content');
	chmodSync(join(upper, 'changed'), 0o600);
	rmSync(join(upper, 'gone'));
	rmSync(join(upper, 'directory'), { recursive: true });
	symlinkSync('kept', join(upper, 'directory'));
	writeFileSync(join(upper, 'more'), 'more');
	rmSync(join(place.layersPath, 'ready'));
	return { place, states: { old, new: contentLines(upper) } };
}

/** What the next owner finds, and has made of it. */
async function lookAt(
	place: SessionPlace,
): Promise<{ upper: readonly string[]; snapshots: readonly number[]; integrity: readonly string[] }> {
	const session = await OwnedSession.open(place, () => {});
	try {
		session.live ??= KernelLive.fromStore(place, session.store);
		const upper = contentLines(upperPath(session.live.place, 'project'));
		// laid out once more: the store says the same
		session.live = KernelLive.fromStore(place, session.store);
		expect(contentLines(upperPath(session.live.place, 'project'))).toEqual(upper);
		return {
			upper,
			snapshots: session.store.snapshots.list().map(({ id }) => id),
			integrity: checkIntegrity(session.store).checks.flatMap(({ messages, harmless }) =>
				harmless === true ? [] : messages,
			),
		};
	} finally {
		session.close();
	}
}

function contentLines(upper: string): readonly string[] {
	expect(lstatSync(upper).isDirectory()).toBe(true);
	return treeLines(upper, { anyDirectoryTimes: true });
}
