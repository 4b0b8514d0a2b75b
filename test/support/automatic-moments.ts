import { expect } from 'vitest';
import type { Account } from './accounts.ts';
import { snapshotsOf } from './checkpoints.ts';
import {
	DATABASE,
	endOf,
	expectLockstep,
	expectSoundDatabases,
	LOCKSTEP,
	lockstepPairs,
	MAPPED,
	mappedPairs,
	snapshots,
	startPython,
} from './moments.ts';
import { sessionRig } from './session-rig.ts';
import { until } from './until.ts';

/** The shortest there are: as many checkpoints as possible. */
const OFTEN = ['--quiet', '50ms', '--checkpoint-interval', '200ms'];

/**
 * Lets programs write without a pause while checkpoints are taken by themselves, so many at least, and others are asked for:
 * each holds what was there at one moment.
 */
export const AUTOMATIC_MOMENTS: Readonly<Record<string, (account: Account, count: number) => Promise<void>>> = {
	async 'two files written in turn'(account, count) {
		using rig = sessionRig(account);
		const run = startPython(rig, LOCKSTEP, ...OFTEN);
		await run.said(/begun/);
		await snapshots(rig, count);
		await until('the checkpoints', () => snapshotsOf(rig, 'ceiling').length >= count, 600_000);
		const last = await endOf(run);
		const ids = snapshotsOf(rig, 'ceiling', 'manual', 'exit').map(({ id }) => id);
		const pairs = lockstepPairs(rig, ids);
		expectLockstep(pairs);
		expect(pairs.at(-1)).toEqual([last, last]);
	},
	async 'a file written through a mapping'(account, count) {
		using rig = sessionRig(account);
		const run = startPython(rig, MAPPED, ...OFTEN);
		await run.said(/begun/);
		await snapshots(rig, count);
		await until('the checkpoints', () => snapshotsOf(rig, 'ceiling', 'quiet').length >= count, 600_000);
		const last = await endOf(run);
		const ids = snapshotsOf(rig, 'ceiling', 'quiet', 'manual', 'exit').map(({ id }) => id);
		const pairs = mappedPairs(rig, ids);
		expectLockstep(pairs);
		expect(pairs.at(-1)).toEqual([last, last]);
	},
	async 'a database in WAL mode'(account, count) {
		using rig = sessionRig(account);
		const run = startPython(rig, DATABASE, ...OFTEN);
		await run.said(/begun/);
		await until('the checkpoints', () => snapshotsOf(rig, 'ceiling').length >= count, 600_000);
		const last = await endOf(run);
		const ids = snapshotsOf(rig, 'ceiling').map(({ id }) => id);
		expectSoundDatabases(rig, account, ids.slice(1), last);
	},
};
