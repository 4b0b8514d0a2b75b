import { type Inode, kindOfMode, TYPE_BITS } from '../base/inode.ts';
import type { SqlValue } from './driver.ts';
import { fromSqlName, type SqlName, toSqlName } from './sql-name.ts';

/** The row of table inode as a tuple in the order of {@link INODE_COLUMNS}. */
export type InodeRow = [
	ino: number,
	born: number,
	root: number,
	mode: number,
	nlink: number,
	uid: number,
	gid: number,
	size: number,
	rdev: number,
	atime: number,
	atimeNsec: number,
	mtime: number,
	mtimeNsec: number,
	ctime: number,
	ctimeNsec: number,
	target: SqlName | null,
	opaque: number,
	chunkBytes: number,
];

/** Columns of table inode that a row consists of, in the order of the table. */
export const INODE_COLUMNS =
	'ino, born, root, mode, nlink, uid, gid, size, rdev, atime, atime_ns, mtime, mtime_ns, ctime, ctime_ns, target, opaque, chunk_bytes';

/** An inode as it stands in a tree. */
export interface TreeInode extends Inode {
	/** How many entries name it; 1 for a root. */
	readonly nlink: number;
}

/** An inode without its extended attributes, from its row. */
export function fromInodeRow(row: InodeRow, xattrs: Inode['xattrs']): TreeInode {
	const mode = row[3];
	return {
		kind: kindOfMode(mode),
		mode: mode & 0o7777,
		nlink: row[4],
		uid: row[5],
		gid: row[6],
		size: row[7],
		rdev: row[8],
		atime: { sec: row[9], nsec: row[10] },
		mtime: { sec: row[11], nsec: row[12] },
		ctime: { sec: row[13], nsec: row[14] },
		target: row[15] === null ? null : fromSqlName(row[15]),
		opaque: row[16] === 1,
		xattrs,
	};
}

/** The columns from mode to opaque, nlink left out, in the order of the table: what a caller may set. */
export function settableColumns(inode: Inode): SqlValue[] {
	if (inode.kind === 'whiteout') throw new Error('a whiteout is an entry without an inode');
	return [
		TYPE_BITS[inode.kind] | (inode.mode & 0o7777),
		inode.uid,
		inode.gid,
		inode.size,
		inode.rdev,
		inode.atime.sec,
		inode.atime.nsec,
		inode.mtime.sec,
		inode.mtime.nsec,
		inode.ctime.sec,
		inode.ctime.nsec,
		inode.target === null ? null : toSqlName(inode.target),
		inode.opaque ? 1 : 0,
	];
}
