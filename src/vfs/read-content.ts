import { createHash } from 'node:crypto';
import { type Content, PIECE_BYTES } from '../base/change.ts';
import { StoredContent } from '../store/stored-content.ts';

/** All bytes of a content in one buffer, holes as zeros. For what is known to be small enough. */
export function readContent(content: Content): Buffer {
	const all = Buffer.alloc(content.size);
	for (const { offset, data } of content.pieces()) data.copy(all, offset);
	return all;
}

/** SHA-256 of a content, as lower-case hex; a hole counts as the zeros that a reader sees. */
export function hashContent(content: Content): string {
	const hash = createHash('sha256');
	for (const window of windowsOf(content)) hash.update(window);
	return hash.digest('hex');
}

/** Whether two contents hold the same bytes; a hole equals zeros. Reads only as far as they agree. */
export function sameContent(a: Content, b: Content): boolean {
	if (a === b) return true;
	if (a.size !== b.size) return false;
	if (a instanceof StoredContent && b instanceof StoredContent && haveSameBlobs(a, b)) return true;
	const others = windowsOf(b);
	for (const window of windowsOf(a)) {
		const other = others.next();
		if (other.done === true || !window.equals(other.value)) return false;
	}
	return true;
}

/** Equal content is stored once, so unchanged files of two snapshots need not be read. */
function haveSameBlobs(a: StoredContent, b: StoredContent): boolean {
	if (a.chunkBytes !== b.chunkBytes || a.chunks.length !== b.chunks.length) return false;
	return a.chunks.every(([idx, blob], at) => b.chunks[at]?.[0] === idx && b.chunks[at]?.[1] === blob);
}

const ZEROS = Buffer.alloc(PIECE_BYTES);

/** The content as a reader sees it, window by window, without gaps. */
function* windowsOf(content: Content): Generator<Buffer, undefined> {
	let at = 0;
	for (const { offset, data } of content.pieces()) {
		for (; at < offset; at += PIECE_BYTES) yield ZEROS;
		yield data;
		at = offset + data.length;
	}
	while (at < content.size) {
		const length = Math.min(PIECE_BYTES, content.size - at);
		yield ZEROS.subarray(0, length);
		at += length;
	}
}
