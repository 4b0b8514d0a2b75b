import { type Change, type Content, PIECE_BYTES } from '../base/change.ts';
import { withoutTrailingZeros } from './seal.ts';
import { sha256 } from './sha256.ts';
import type { TreeParts } from './tree-parts.ts';

/** A file's content as blobs of the store, not yet named by the tree. */
export interface StagedContent {
	readonly size: number;
	/** Pairs of chunk number and sealed blob; a chunk left out is a hole. Each chunk but the last is 64 KiB long. */
	readonly chunks: readonly (readonly [idx: number, blob: number])[];
}

/** Content that is in the store before the tree names it. Only the holder of the OWNER lock stages, so that gc waits. */
export class Staged {
	readonly #contents = new Map<Content, StagedContent>();

	/** What this content became, or null when it was not staged. */
	of(content: Content): StagedContent | null {
		return this.#contents.get(content) ?? null;
	}

	/** Notes what a content became. Called by the ingest alone. */
	add(content: Content, staged: StagedContent): void {
		this.#contents.set(content, staged);
	}
}

/**
 * Reads the content of changes into sealed blobs, equal content once, in short transactions of its own (or in the one that
 * is open). Memory is bounded by one batch, whatever the size of the files.
 *
 * Throws what the contents throw while they are read, and Refusal `full`; what was stored by then is gc's to remove.
 */
export function ingest(parts: TreeParts, changes: Iterable<Change>): Staged {
	const staged = new Staged();
	const batch = new Batch(parts);
	for (const { content, after } of changes) {
		if (content === null || after === null || staged.of(content) !== null) continue;
		staged.add(content, readContent(content, after.size, batch));
	}
	batch.flush();
	return staged;
}

/** Bytes of a batch: what the disk takes within the 20 ms that a transaction may last. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Small pieces are dearer by the piece than by the byte. */
const BATCH_PIECES = 512;

function readContent(content: Content, size: number, batch: Batch): StagedContent {
	const chunks: [number, number][] = [];
	for (const { offset, data } of content.pieces()) {
		if (offset % PIECE_BYTES !== 0 || data.length > PIECE_BYTES) {
			throw new Error(`content comes in windows of ${PIECE_BYTES} bytes, not ${data.length} at ${offset}`);
		}
		// A file that grew while it was read is cut to the size that its inode has.
		if (offset >= size) break;
		const bytes = withoutTrailingZeros(data.subarray(0, size - offset));
		if (bytes.length > 0) batch.add(bytes, offset / PIECE_BYTES, chunks);
	}
	return { size, chunks };
}

interface Waiting {
	readonly data: Buffer;
	readonly idx: number;
	readonly chunks: [number, number][];
}

/** Pieces that wait for their transaction, copied into one buffer: a piece's own memory is used again by its maker. */
class Batch {
	readonly #parts: TreeParts;
	#memory: Buffer | null = null;
	#used = 0;
	#waiting: Waiting[] = [];

	constructor(parts: TreeParts) {
		this.#parts = parts;
	}

	/** Lets `chunks` get its pair, at the latest with {@link flush}. */
	add(data: Buffer, idx: number, chunks: [number, number][]): void {
		if (this.#used + data.length > BATCH_BYTES || this.#waiting.length === BATCH_PIECES) this.flush();
		this.#memory ??= Buffer.allocUnsafeSlow(BATCH_BYTES);
		const copy = this.#memory.subarray(this.#used, this.#used + data.length);
		data.copy(copy);
		this.#used += data.length;
		this.#waiting.push({ data: copy, idx, chunks });
	}

	flush(): void {
		if (this.#waiting.length === 0) return;
		const hashes = this.#waiting.map(({ data }) => sha256(data));
		this.#parts.write(() => {
			this.#waiting.forEach(({ data, idx, chunks }, index) => {
				chunks.push([idx, this.#parts.blobs.put(data, hashes[index] as Buffer)]);
			});
		});
		this.#waiting = [];
		this.#used = 0;
	}
}
