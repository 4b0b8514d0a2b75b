import { geteuid } from 'node:process';
import { type Inode, sameTime } from '../base/inode.ts';
import { errorCode } from '../base/posix-error.ts';
import type { InodeHandle } from './inode-handle.ts';
import { OWNER_WRITE } from './owner-access.ts';
import { isKeptXattr } from './xattr.ts';

/** How exact a tree's metadata must become. */
export interface MetadataOptions {
	/** `exact`: an owner that cannot be set is an error. `possible`: it is set where we may, and reported where not. */
	readonly owner: 'exact' | 'possible';
	/**
	 * The same for `user.*` attributes; `exact` unless said. `trusted.*`, file capabilities and ACLs, which need privilege
	 * or support, are always set where possible.
	 */
	readonly xattrs?: 'exact' | 'possible';
	/** Told what could not be kept of a path: `owner`, or the name of an extended attribute. */
	readonly onLost?: (path: string, what: string) => void;
}

/** What an inode has before it is written to. */
export type CurrentMetadata = Pick<Inode, 'uid' | 'gid' | 'mode' | 'atime' | 'mtime' | 'xattrs'>;

/**
 * Gives an inode the owner, attributes, mode and times of `after`, and where `current` is known writes only what differs.
 * The order matters: chown takes away set-uid bits and file capabilities, an ACL changes the mode, all change ctime. Times
 * come last. `path` is for reports. Throws PosixError.
 */
export function setMetadata(
	handle: InodeHandle,
	after: Inode,
	current: CurrentMetadata | null,
	path: string,
	options: MetadataOptions,
): void {
	const isOwned = current !== null && current.uid === after.uid && current.gid === after.gid;
	if (!isOwned) setOwner(handle, after, path, options);
	const hasNewXattrs = setXattrs(handle, after, current, isOwned, path, options);
	const isModeKept = current !== null && isOwned && !hasNewXattrs && current.mode === after.mode;
	if (!isModeKept && after.kind !== 'symlink') handle.chmod(after.mode);
	if (current === null || !sameTime(current.mtime, after.mtime) || !sameTime(current.atime, after.atime)) {
		handle.setTimes(after.atime, after.mtime);
	}
}

function setOwner(handle: InodeHandle, after: Inode, path: string, options: MetadataOptions): void {
	if (options.owner === 'exact') {
		handle.chown(after.uid, after.gid);
		return;
	}
	// Giving a file away needs privilege; giving it to another of our groups does not. EINVAL: an id that is not mapped.
	if (attempt(() => handle.chown(after.uid, after.gid), OWNER_REFUSED)) return;
	attempt(() => handle.chown(-1, after.gid), OWNER_REFUSED);
	options.onLost?.(path, 'owner');
}

/** Whether anything was written. */
function setXattrs(
	handle: InodeHandle,
	after: Inode,
	current: CurrentMetadata | null,
	isOwned: boolean,
	path: string,
	options: MetadataOptions,
): boolean {
	if (after.xattrs.size === 0 && (current === null || current.xattrs.size === 0)) return false;
	const gone = [...(current?.xattrs.keys() ?? [])].filter((name) => isKeptXattr(name) && !after.xattrs.has(name));
	const changed = [...after.xattrs].filter(([name, value]) => {
		const old = current?.xattrs.get(name);
		return old === undefined || !old.equals(value) || (!isOwned && name === CAPABILITY);
	});
	if (gone.length === 0 && changed.length === 0) return false;
	// Writing user.* needs write permission, which the owner may have denied to itself.
	const mode = current?.mode ?? 0o600;
	if ((mode & OWNER_WRITE) === 0 && geteuid?.() !== 0) handle.chmod(mode | OWNER_WRITE);
	for (const name of gone) keepXattr(name, () => handle.removeXattr(name), path, options);
	for (const [name, value] of changed) keepXattr(name, () => handle.setXattr(name, value), path, options);
	return true;
}

function keepXattr(name: string, write: () => void, path: string, options: MetadataOptions): void {
	if (name.startsWith('user.') && options.xattrs !== 'possible') write();
	else if (!attempt(write, XATTR_REFUSED)) options.onLost?.(path, name);
}

const CAPABILITY = 'security.capability';
const OWNER_REFUSED: ReadonlySet<string | null> = new Set(['EPERM', 'EINVAL', 'EOPNOTSUPP']);
const XATTR_REFUSED: ReadonlySet<string | null> = new Set(['EPERM', 'EOPNOTSUPP', 'EINVAL', 'ENODATA']);

/** Whether it succeeded; any failure but the named ones is thrown on. */
function attempt(work: () => void, refusals: ReadonlySet<string | null>): boolean {
	try {
		work();
		return true;
	} catch (error) {
		if (refusals.has(errorCode(error))) return false;
		throw error;
	}
}
