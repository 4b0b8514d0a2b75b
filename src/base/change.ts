import type { Inode } from './inode.ts';

/** Bytes of a window: content is handed on in pieces that start at a multiple of this and are at most this long. */
export const PIECE_BYTES = 65_536;

/** One piece of a file's content. `data` is valid until the next piece is asked for. */
export interface Piece {
	/** A multiple of {@link PIECE_BYTES}. */
	readonly offset: number;
	/** {@link PIECE_BYTES} long; shorter only at the end of the file. A window that holds any data is given whole. */
	readonly data: Buffer;
}

/** A file's bytes, read when they are needed. */
export interface Content {
	readonly size: number;
	/** The windows that hold data, in order; a window left out is a hole. Throws PosixError. */
	pieces(): Iterable<Piece>;
}

/**
 * One path that differs between two states of a tree, as a value. Made by Tree.changes, by the scan of an upper directory
 * and by merges; taken by Tree.apply and HostTree.apply.
 */
export interface Change {
	/** Below the root of its tree; '' is the root directory itself. */
	readonly path: string;
	/** What was there; null when nothing was, or when the maker of the change does not know. */
	readonly before: Inode | null;
	/** What is there now; null when nothing is. In a layer, null means that the base shows through. */
	readonly after: Inode | null;
	/** The new bytes of a file; null when they are the same as before. */
	readonly content: Content | null;
	/**
	 * Names with the same non-null `link` are one inode. When a name of a hard-linked inode changes, the list holds every
	 * name that the inode has afterwards, each with the same `link`, and the content with at least the first of them.
	 */
	readonly link: string | null;
	/** The path that this very inode had before, when it was renamed; the list then also removes that path. */
	readonly from: string | null;
}
