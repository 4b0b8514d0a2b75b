import { sha256 } from './sha256.ts';
import type { TreeParts } from './tree-parts.ts';

/** An open blob and the one chunk that it belongs to, in as many versions as history holds. */
export interface OpenBlob {
	readonly blob: number;
	readonly ino: number;
	readonly idx: number;
}

/** How long one transaction of sealing may take, so that other writers get their turn. */
const BATCH_MS = 15;

/**
 * Seals open blobs that belong to a snapshot, the oldest first, in short transactions, until none is left or the budget is
 * spent. Says how many were sealed. History reads the same before, between and after.
 */
export function sealOpenBlobs(parts: TreeParts, budgetMs = Number.POSITIVE_INFINITY): number {
	const deadline = performance.now() + budgetMs;
	let sealed = 0;
	for (;;) {
		const count = parts.write(() => sealBatch(parts, Math.min(deadline, performance.now() + BATCH_MS)));
		sealed += count;
		if (count === 0 || performance.now() >= deadline) return sealed;
	}
}

/**
 * Finishes one blob: equal content that exists takes its place in every version of its chunk, zeros at its end are left
 * out, and one of nothing but zeros becomes a hole. So equal content has equal chunks, however it was written.
 * Does nothing for a blob that is not open.
 */
export function sealBlob(parts: TreeParts, open: OpenBlob): void {
	const { blobs, db } = parts;
	if (!blobs.isOpen(open.blob)) return;
	const written = blobs.read(open.blob);
	const data = withoutTrailingZeros(written);
	if (data.length === 0) {
		withoutVersions(parts, () => {
			db.prepare('delete from chunk where ino = ? and idx = ? and blob = ?').run(open.ino, open.idx, open.blob);
			db.prepare('delete from chunk_past where ino = ? and idx = ? and blob = ?').run(open.ino, open.idx, open.blob);
		});
		blobs.drop(open.blob);
		return;
	}
	const hash = sha256(data);
	if (data.length === written.length && blobs.find(hash) === null) {
		blobs.seal(open.blob, hash);
		blobs.close(open.blob);
		return;
	}
	const finished = blobs.put(data, hash);
	withoutVersions(parts, () => {
		db.prepare('update chunk set blob = ? where ino = ? and idx = ? and blob = ?').run(
			finished,
			open.ino,
			open.idx,
			open.blob,
		);
		db.prepare('update chunk_past set blob = ? where ino = ? and idx = ? and blob = ?').run(
			finished,
			open.ino,
			open.idx,
			open.blob,
		);
	});
	blobs.drop(open.blob);
}

/** The bytes up to the last that is not zero. `data` is at most 64 KiB long. */
export function withoutTrailingZeros(data: Buffer): Buffer {
	let length = data.length;
	if (length === 0 || data[length - 1] !== 0) return data;
	// Compared by the block, which is a hundred times faster than byte by byte: windows of zeros are common.
	for (let block = ZEROS.length; block >= 1; block /= 2) {
		while (length >= block && data.compare(ZEROS, 0, block, length - block, length) === 0) length -= block;
	}
	return data.subarray(0, length);
}

const ZEROS = Buffer.alloc(65_536);

function sealBatch(parts: TreeParts, deadline: number): number {
	const batch = parts.db
		.prepare<OpenBlob>('select blob, ino, idx from open where born < ? order by blob limit 500')
		.all(parts.head.born);
	let sealed = 0;
	for (const open of batch) {
		sealBlob(parts, open);
		sealed += 1;
		if (performance.now() >= deadline) break;
	}
	return sealed;
}

/** Repoints chunks in every version at once, so no version is made; the flag lives within the transaction. */
function withoutVersions({ db }: TreeParts, action: () => void): void {
	db.prepare('update head set sealing = 1').run();
	action();
	db.prepare('update head set sealing = 0').run();
}
