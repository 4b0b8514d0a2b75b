/** What an inode can be. A whiteout says that the name is deleted from what lies below. */
export type Kind = 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'char' | 'block' | 'whiteout';

/** A time since the epoch, split because a JavaScript number cannot hold nanoseconds. `nsec` is 0 to 999,999,999. */
export interface Time {
	readonly sec: number;
	readonly nsec: number;
}

/** Everything about one inode but its content and its names. */
export interface Inode {
	readonly kind: Kind;
	/** The twelve permission bits: 0o7777. */
	readonly mode: number;
	readonly uid: number;
	readonly gid: number;
	/** Bytes of a file; of a symlink its target's length; 0 for the rest. */
	readonly size: number;
	/** Device number of a char or block node as the kernel's makedev encodes it (linux/kdev_t.h, 64 bit); else 0. */
	readonly rdev: number;
	readonly atime: Time;
	readonly mtime: Time;
	readonly ctime: Time;
	/** Where a symlink points; else null. */
	readonly target: string | null;
	/** A directory that hides everything of the same path below. */
	readonly opaque: boolean;
	/** Extended attributes as they are seen inside a session, without overlayfs' own. */
	readonly xattrs: ReadonlyMap<string, Buffer>;
}

const EPOCH: Time = { sec: 0, nsec: 0 };

/** The inode of a deleted name. */
export const WHITEOUT: Inode = {
	kind: 'whiteout',
	mode: 0,
	uid: 0,
	gid: 0,
	size: 0,
	rdev: 0,
	atime: EPOCH,
	mtime: EPOCH,
	ctime: EPOCH,
	target: null,
	opaque: false,
	xattrs: new Map(),
};

/** Type bits of a mode (linux/stat.h) by kind; a whiteout has none. */
export const TYPE_BITS: Readonly<Record<Exclude<Kind, 'whiteout'>, number>> = {
	fifo: 0o010000,
	char: 0o020000,
	directory: 0o040000,
	block: 0o060000,
	file: 0o100000,
	symlink: 0o120000,
	socket: 0o140000,
};

const KIND_BY_BITS: ReadonlyMap<number, Kind> = new Map(
	(Object.keys(TYPE_BITS) as (keyof typeof TYPE_BITS)[]).map((kind) => [TYPE_BITS[kind], kind]),
);

/** The kind that st_mode's type bits name. */
export function kindOfMode(mode: number): Kind {
	const kind = KIND_BY_BITS.get(mode & 0o170000);
	if (kind === undefined) throw new Error(`mode 0o${mode.toString(8)} has no known file type`);
	return kind;
}

/** Whether two inodes are the same to a reader: all but atime and ctime. */
export function sameInode(a: Inode, b: Inode): boolean {
	return (
		a.kind === b.kind &&
		a.mode === b.mode &&
		a.uid === b.uid &&
		a.gid === b.gid &&
		a.size === b.size &&
		a.rdev === b.rdev &&
		a.target === b.target &&
		a.opaque === b.opaque &&
		sameTime(a.mtime, b.mtime) &&
		sameXattrs(a.xattrs, b.xattrs)
	);
}

/** Whether two times are equal to the nanosecond. */
export function sameTime(a: Time, b: Time): boolean {
	return a.sec === b.sec && a.nsec === b.nsec;
}

function sameXattrs(a: Inode['xattrs'], b: Inode['xattrs']): boolean {
	if (a.size !== b.size) return false;
	for (const [name, value] of a) if (b.get(name)?.equals(value) !== true) return false;
	return true;
}
