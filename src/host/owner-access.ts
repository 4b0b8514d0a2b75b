import { geteuid } from 'node:process';
import { errorCode } from '../base/posix-error.ts';
import { statIn, statOf } from './host-stat.ts';
import { InodeHandle } from './inode-handle.ts';

/** Permission bits of an inode's owner. */
export const OWNER_READ = 0o400;
export const OWNER_WRITE = 0o200;
export const OWNER_SEARCH = 0o100;

/**
 * Does `work`; when that fails with EACCES because an inode of our own denies its owner the `bits`, does it once more with
 * them added for that long. Mode and times are then as before, only ctime has moved. With an empty name the inode is the
 * open directory itself. An ordinary user gets at the files of mode 000 in a layer this way; root needs none of it.
 */
export function withOwnerAccess<T>(directory: number, name: string, bits: number, work: () => T): T {
	try {
		return work();
	} catch (error) {
		if (errorCode(error) !== 'EACCES') throw error;
		const mode = withheldMode(directory, name, bits);
		if (mode === null) throw error;
		return withMode(directory, name, mode, bits, work);
	}
}

/** The mode of an inode that is ours and lacks some of the bits; else null. */
function withheldMode(directory: number, name: string, bits: number): number | null {
	const stat = name === '' ? statOf(directory) : statIn(directory, name);
	if (stat === null || stat.kind === 'symlink' || stat.uid !== geteuid?.()) return null;
	return (stat.mode & bits) === bits ? null : stat.mode;
}

function withMode<T>(directory: number, name: string, mode: number, bits: number, work: () => T): T {
	const handle = name === '' ? new InodeHandle(directory, true) : InodeHandle.of(directory, name);
	try {
		handle.chmod(mode | bits);
		try {
			return work();
		} finally {
			handle.chmod(mode);
		}
	} finally {
		if (name !== '') handle.close();
	}
}
