import type { Content } from '../base/change.ts';
import type { Inode } from '../base/inode.ts';
import { errorCode } from '../base/posix-error.ts';
import { closeFd, openIn, unlinkIn } from './entries.ts';
import { InodeHandle } from './inode-handle.ts';
import { checked, lastErrno, libc } from './libc.ts';
import { O_CREAT, O_EXCL, O_WRONLY } from './open-flags.ts';
import { type CurrentMetadata, type MetadataOptions, setMetadata } from './set-metadata.ts';

/** How a file is to be written. */
export interface FileOptions extends MetadataOptions {
	/** Content and inode are on disk when {@link writeFile} returns; its name is not, until the directory is synced. */
	readonly durable: boolean;
}

/** A new file: where, what is in it, what it is. */
export interface NewFile {
	readonly directory: number;
	/** Taken away first when a run that was cut short left something of this name. */
	readonly name: string;
	readonly content: Content;
	readonly after: Inode;
	/** What the new file has of itself, such as an inherited ACL; null when that is nothing. */
	readonly inherited: (directory: number, name: string) => CurrentMetadata | null;
	/** For messages and reports. */
	readonly path: string;
}

/** Makes a file with content, holes, owner, attributes, mode and times. What cannot be finished is taken away. */
export function writeFile(file: NewFile, options: FileOptions): void {
	const { directory, name } = file;
	const fd = createNew(name, () => openIn(directory, name, O_WRONLY | O_CREAT | O_EXCL, 0o600), directory);
	try {
		writeContent(fd, file.content, file.path);
		const handle = new InodeHandle(fd, false);
		setMetadata(handle, file.after, file.inherited(directory, name), file.path, options);
		if (options.durable) checked(libc().fsync(fd), 'fsync', file.path);
	} catch (error) {
		unlinkIn(directory, name);
		throw error;
	} finally {
		closeFd(fd);
	}
}

/** Makes a name by `make`; when it is taken, takes that away, which is no directory, and makes it again. */
export function createNew<T>(name: string, make: () => T, directory: number): T {
	try {
		return make();
	} catch (error) {
		if (errorCode(error) !== 'EEXIST') throw error;
		unlinkIn(directory, name);
		return make();
	}
}

function writeContent(fd: number, content: Content, path: string): void {
	let end = 0;
	for (const { offset, data } of content.pieces()) {
		writePiece(fd, data, offset, path);
		end = offset + data.length;
	}
	if (end !== content.size) checked(libc().ftruncate(fd, content.size), 'truncate', path);
}

/** Writes all the bytes at a position. Throws PosixError. */
export function writePiece(fd: number, from: Buffer, offset: number, path: string): void {
	for (let at = 0; at < from.length; ) {
		const rest = at === 0 ? from : from.subarray(at);
		const length = libc().pwrite(fd, rest, rest.length, offset + at);
		if (length < 0 && lastErrno() === EINTR) continue;
		at += checked(length, 'write', path);
	}
}

const EINTR = 4;
