import type { Content, Piece } from '../base/change.ts';
import { sameTime } from '../base/inode.ts';
import { baseName, parentPath } from '../base/paths.ts';
import { errorCode } from '../base/posix-error.ts';
import { closeFd } from '../host/entries.ts';
import { contentOfFd } from '../host/host-content.ts';
import { type HostStat, statOf } from '../host/host-stat.ts';
import { UpperCursor } from './upper-cursor.ts';

/**
 * Hands out the contents of an upper directory's files, which are read by path when they are needed. Closes itself when
 * each has been read; `close` is for those that nobody reads.
 */
export class UpperContents {
	/**
	 * Files that were written, replaced or removed while they were read, so that what was given is no state they ever
	 * had. Only while a run lives.
	 */
	readonly disturbed = new Set<string>();
	readonly #upperPath: string;
	readonly #unread = new Set<Content>();
	#cursor: UpperCursor | null = null;

	constructor(upperPath: string) {
		this.#upperPath = upperPath;
	}

	/** The content of a file that was just seen. `onDisturbed` is called when it cannot be had as it was seen. */
	of(path: string, seen: HostStat, onDisturbed: () => void): Content {
		const content: Content = { size: seen.size, pieces: () => this.#read(content, path, seen, onDisturbed) };
		if (seen.size > 0) this.#unread.add(content);
		return content;
	}

	/** Gives back what is open. */
	close(): void {
		this.#cursor?.close();
		this.#cursor = null;
	}

	*#read(content: Content, path: string, seen: HostStat, onDisturbed: () => void): Generator<Piece> {
		if (content.size === 0) return;
		const fd = this.#open(path);
		try {
			const isWhole = fd !== null && (yield* readAsSeen(fd, seen, path));
			if (isWhole) return;
			this.disturbed.add(path);
			onDisturbed();
		} finally {
			if (fd !== null) closeFd(fd);
			this.#unread.delete(content);
			if (this.#unread.size === 0) this.close();
		}
	}

	#open(path: string): number | null {
		this.#cursor ??= UpperCursor.open(this.#upperPath);
		return this.#cursor.goTo(parentPath(path)) ? this.#cursor.openFile(baseName(path)) : null;
	}
}

/** Gives the bytes up to the size that was seen; returns whether the file was that very one and nobody wrote to it. */
function* readAsSeen(fd: number, seen: HostStat, path: string): Generator<Piece, boolean> {
	const before = statOf(fd);
	if (before.kind !== 'file' || before.ino !== seen.ino) return false;
	try {
		yield* contentOfFd(fd, seen.size, path).pieces();
	} catch (error) {
		// It has become shorter.
		if (errorCode(error) === 'ESTALE') return false;
		throw error;
	}
	const after = statOf(fd);
	const isUntouched = sameTime(before.mtime, after.mtime) && sameTime(before.ctime, after.ctime);
	return isUntouched && after.size === seen.size;
}
