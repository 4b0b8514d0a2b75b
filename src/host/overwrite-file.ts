import { closeFd, openIn } from './entries.ts';
import { statIn } from './host-stat.ts';
import { InodeHandle } from './inode-handle.ts';
import { checked, libc } from './libc.ts';
import { O_NONBLOCK, O_WRONLY } from './open-flags.ts';
import { OWNER_WRITE, withOwnerAccess } from './owner-access.ts';
import { readInodeIn } from './read-inode.ts';
import { setMetadata } from './set-metadata.ts';
import { type FileOptions, type NewFile, writePiece } from './write-file.ts';

/**
 * Gives the regular file that is there new content and metadata, for a tree that nobody reads meanwhile and that is made
 * anew after a crash: what fails leaves a file that is neither the old nor the new one. Costs a tenth of {@link writeFile}
 * and a rename: no inode and no block is given back and taken, and ext4 writes a file's data to the disk when it is renamed
 * over another (auto_da_alloc, ext4(5)). Throws PosixError.
 */
export function overwriteFile(file: Omit<NewFile, 'inherited'>, options: FileOptions): void {
	const { directory, name, content, after, path } = file;
	const fd = withOwnerAccess(directory, name, OWNER_WRITE, () => openIn(directory, name, O_WRONLY | O_NONBLOCK));
	try {
		let end = 0;
		let oldSize = statIn(directory, name)?.size ?? 0;
		const cut = (size: number) => {
			checked(libc().ftruncate(fd, size), 'truncate', path);
			oldSize = size;
		};
		for (const { offset, data } of content.pieces()) {
			// a hole must read as zeros: the old bytes from there on go
			if (offset > end && oldSize > end) cut(end);
			writePiece(fd, data, offset, path);
			end = offset + data.length;
		}
		if (oldSize > end && content.size > end) cut(end);
		if (Math.max(oldSize, end) !== content.size) cut(content.size);
		// read only now: writing takes set-uid bits and file capabilities away
		setMetadata(new InodeHandle(fd, false), after, readInodeIn(directory, name, true), path, options);
	} finally {
		closeFd(fd);
	}
}
