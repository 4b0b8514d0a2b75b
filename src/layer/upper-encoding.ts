import type { Change } from '../base/change.ts';
import { type Inode, WHITEOUT } from '../base/inode.ts';
import { type HostInode, withAttributes } from '../host/read-inode.ts';

/** Where overlayfs keeps its own attributes when mounted with `userxattr` (Documentation/filesystems/overlayfs.rst). */
const OVERLAY = 'user.overlay.';
/** An attribute of that name set inside the mount is stored with the prefix doubled, so that it forges nothing. */
const ESCAPED = `${OVERLAY}overlay.`;
const OPAQUE = `${OVERLAY}opaque`;
const WHITEOUT_MARK = `${OVERLAY}whiteout`;
/** Attributes of overlays mounted without it, which is never ours. */
const ANOTHER_OVERLAY = 'trusted.overlay.';

/** What an upper directory holds for this inode of a layer: whiteouts as device 0:0, opaque as an attribute. */
export function toUpper(inode: Inode): Inode {
	if (inode.kind === 'whiteout') return { ...inode, kind: 'char', mode: 0, rdev: 0 };
	if (!inode.opaque && !hasOverlayNames(inode.xattrs)) return inode;
	const xattrs = new Map<string, Buffer>();
	for (const [name, value] of inode.xattrs) {
		xattrs.set(name.startsWith(OVERLAY) ? ESCAPED + name.slice(OVERLAY.length) : name, value);
	}
	if (inode.opaque) xattrs.set(OPAQUE, Buffer.from('y'));
	return { ...inode, opaque: false, xattrs };
}

/** A change of a layer, as it is to be made in an upper directory. */
export function toUpperChange(change: Change): Change {
	const { before, after } = change;
	return {
		...change,
		before: before === null ? null : toUpper(before),
		after: after === null ? null : toUpper(after),
	};
}

/**
 * The inode of a layer that this file of an upper directory stands for. `marked`: its directory holds whiteouts in the
 * form of attributes ({@link hasMarkedWhiteouts}), as kernels from 6.7 on let an upper directory have.
 */
export function fromUpper(inode: HostInode, marked: boolean): HostInode {
	if (inode.kind === 'char' && inode.rdev === 0) return { ...inode, ...WHITEOUT };
	if (inode.xattrs.size === 0) return inode;
	const isMarked = marked && inode.kind === 'file' && inode.size === 0 && inode.xattrs.has(WHITEOUT_MARK);
	if (isMarked) return { ...inode, ...WHITEOUT };
	const xattrs = new Map<string, Buffer>();
	for (const [name, value] of inode.xattrs) {
		if (name.startsWith(ESCAPED)) xattrs.set(OVERLAY + name.slice(ESCAPED.length), value);
		else if (!name.startsWith(OVERLAY) && !name.startsWith(ANOTHER_OVERLAY)) xattrs.set(name, value);
	}
	const opaque = inode.kind === 'directory' && inode.xattrs.get(OPAQUE)?.toString('latin1') === 'y';
	return withAttributes(inode, inode.target, opaque, xattrs);
}

/** Whether a directory of an upper directory says that empty files in it may be whiteouts (opaque is `x`). */
export function hasMarkedWhiteouts(directory: Inode): boolean {
	return directory.xattrs.get(OPAQUE)?.toString('latin1') === 'x';
}

function hasOverlayNames(xattrs: Inode['xattrs']): boolean {
	for (const name of xattrs.keys()) if (name.startsWith(OVERLAY)) return true;
	return false;
}
