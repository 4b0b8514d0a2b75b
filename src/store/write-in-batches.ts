import type { TreeParts } from './tree-parts.ts';

/** Milliseconds of work in one transaction of background work, so that with its commit it stays below 25. */
const BATCH_BUDGET_MS = 12;

/** Items of one transaction at most: each may change a page or two, and the -wal must hold them. */
const BATCH_ITEMS = 256;

/**
 * Does a write for each item, in transactions that are closed after some milliseconds or items, so that other writers get their
 * turn; inside a transaction it joins that one. `beforeCommit` is the last write of each. What is committed stays done
 * when a later write fails. Items are taken inside the transaction, right before they are written.
 */
export function writeInBatches<T>(
	store: Pick<TreeParts, 'write'>,
	items: Iterable<T>,
	write: (item: T) => void,
	beforeCommit: () => void = () => {},
): void {
	const iterator = items[Symbol.iterator]();
	let done = false;
	try {
		while (!done) {
			store.write(() => {
				const end = performance.now() + BATCH_BUDGET_MS;
				for (let count = 0; !done && count < BATCH_ITEMS && performance.now() < end; count++) {
					const next = iterator.next();
					if (next.done === true) done = true;
					else write(next.value);
				}
				beforeCommit();
			});
		}
	} finally {
		if (!done) iterator.return?.();
	}
}
