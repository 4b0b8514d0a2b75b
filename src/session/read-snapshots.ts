import { setTimeout as wait } from 'node:timers/promises';
import { Refusal } from '../base/refusal.ts';
import { type Point, resolveRef } from '../history/refs.ts';
import { LOCK_SNAPSHOT_BASE, LockFile } from '../host/lock-file.ts';
import type { Session } from './session.ts';

const PATIENCE_MS = 5_000;
const PAUSE_MS = 20;

/**
 * Reads points of history on one state of the store; gc spares the snapshots among them meanwhile. Throws Refusal 'invalid'
 * for a ref that names nothing, 'busy' when gc does not come to an end.
 */
export async function readSnapshots<const REFS extends readonly string[], T>(
	session: Session,
	refs: REFS,
	read: (points: { readonly [K in keyof REFS]: Point }) => T,
): Promise<T> {
	const { store, place } = session;
	const points = store.read(() => refs.map((ref) => resolveRef(store, ref)));
	const numbers = points.filter((point) => typeof point === 'number');
	// without a lock file nobody has ever been able to collect garbage
	const locks = numbers.length === 0 ? null : LockFile.openToLook(place.lockPath);
	try {
		if (locks !== null) for (const number of numbers) await share(locks, number);
		return store.read(() => {
			for (const number of numbers) resolveRef(store, String(number));
			return read(points as { [K in keyof REFS]: Point });
		});
	} finally {
		locks?.close();
	}
}

async function share(locks: LockFile, number: number): Promise<void> {
	const deadline = performance.now() + PATIENCE_MS;
	while (!locks.tryLock(LOCK_SNAPSHOT_BASE + number, 1, 'shared')) {
		if (performance.now() > deadline) {
			throw new Refusal('busy', 'collecting', `snapshot ${number} is being looked at by gc`, { hint: 'try again' });
		}
		await wait(PAUSE_MS);
	}
}
