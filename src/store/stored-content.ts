import { type Content, PIECE_BYTES, type Piece } from '../base/change.ts';
import type { Blobs } from './blobs.ts';
import { withoutTrailingZeros } from './seal.ts';

/** The bytes of a file of the store: a list of blobs, read one window at a time. */
export class StoredContent implements Content {
	readonly size: number;
	/** Pairs of chunk number and blob, in order; a chunk left out is a hole. */
	readonly chunks: readonly (readonly [idx: number, blob: number])[];
	/** Bytes of a full chunk: {@link PIECE_BYTES} or a part of it. */
	readonly chunkBytes: number;
	readonly #blobs: Blobs;

	constructor(blobs: Blobs, chunks: StoredContent['chunks'], size: number, chunkBytes: number) {
		this.#blobs = blobs;
		this.chunks = chunks;
		this.size = size;
		this.chunkBytes = chunkBytes;
	}

	*pieces(): Iterable<Piece> {
		const perPiece = PIECE_BYTES / this.chunkBytes;
		for (let at = 0; at < this.chunks.length; ) {
			const piece = Math.floor((this.chunks[at] as readonly [number, number])[0] / perPiece);
			const first = at;
			while (
				at < this.chunks.length &&
				Math.floor((this.chunks[at] as readonly [number, number])[0] / perPiece) === piece
			) {
				at += 1;
			}
			const offset = piece * PIECE_BYTES;
			if (offset >= this.size) return;
			yield { offset, data: this.#window(this.chunks.slice(first, at), offset) };
		}
	}

	/** One window. A blob may be shorter than its chunk: what it lacks is zeros. It may be longer while it is open. */
	#window(chunks: StoredContent['chunks'], offset: number): Buffer {
		const length = Math.min(PIECE_BYTES, this.size - offset);
		const [only] = chunks;
		if (chunks.length === 1 && only !== undefined && only[0] * this.chunkBytes === offset) {
			const data = this.#blobs.read(only[1]);
			if (data.length === length) return data;
			if (data.length > length) return data.subarray(0, length);
		}
		const window = Buffer.alloc(length);
		for (const [idx, blob] of chunks) this.#blobs.read(blob).copy(window, idx * this.chunkBytes - offset);
		return window;
	}
}

/**
 * Whether two files of the store have the same bytes. Sealed blobs are told apart by their number: equal content is stored
 * once. Only open ones are read.
 */
export function sameContent(blobs: Blobs, a: StoredContent, b: StoredContent): boolean {
	if (a.size !== b.size) return false;
	if (a.chunkBytes !== b.chunkBytes) return sameBytes(a, b);
	const rest = new Map(b.chunks);
	for (const [idx, blob] of a.chunks) {
		const other = rest.get(idx);
		rest.delete(idx);
		if (other !== blob && !sameBlob(blobs, blob, other)) return false;
	}
	for (const blob of rest.values()) if (!sameBlob(blobs, blob, undefined)) return false;
	return true;
}

/** Compares what the blobs hold up to the zeros at their end; `undefined` is a hole. */
function sameBlob(blobs: Blobs, a: number, b: number | undefined): boolean {
	if (!blobs.isOpen(a) && (b === undefined || !blobs.isOpen(b))) return false;
	const bytes = b === undefined ? NOTHING : withoutTrailingZeros(blobs.read(b));
	return withoutTrailingZeros(blobs.read(a)).equals(bytes);
}

const NOTHING = Buffer.alloc(0);

function sameBytes(a: StoredContent, b: StoredContent): boolean {
	const windows = (content: StoredContent) => {
		const found: (readonly [number, Buffer])[] = [];
		for (const { offset, data } of content.pieces()) found.push([offset, data]);
		return found.filter(([, data]) => withoutTrailingZeros(data).length > 0);
	};
	const [left, right] = [windows(a), windows(b)];
	return (
		left.length === right.length &&
		left.every(([offset, data], index) => {
			const other = right[index];
			return other !== undefined && other[0] === offset && other[1].equals(data);
		})
	);
}
