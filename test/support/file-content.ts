import type { Change, Content } from '../../src/base/change.ts';
import type { Inode } from '../../src/base/inode.ts';

/** An inode of a kind; what a test does not say is filled in. */
export function inode(kind: Inode['kind'], fields: Partial<Inode> = {}): Inode {
	const time = { sec: 1_700_000_000, nsec: 123_456_789 };
	return {
		kind,
		mode: kind === 'directory' ? 0o755 : 0o644,
		uid: 1000,
		gid: 1000,
		size: 0,
		rdev: 0,
		atime: time,
		mtime: time,
		ctime: time,
		target: null,
		opaque: false,
		xattrs: new Map(),
		...fields,
	};
}

/** Bytes as content, in windows. */
export function contentOf(data: Buffer | string): Content {
	const bytes = Buffer.from(data);
	return {
		size: bytes.length,
		*pieces() {
			for (let offset = 0; offset < bytes.length; offset += 65_536) {
				yield { offset, data: bytes.subarray(offset, offset + 65_536) };
			}
		},
	};
}

/** A change of one path; what a test does not say is null. */
export function change(path: string, after: Inode | null, more: Partial<Change> = {}): Change {
	return { path, before: null, after, content: null, link: null, from: null, ...more };
}

/** The change that makes a path a file of these bytes. */
export function fileChange(path: string, data: Buffer | string, more: Partial<Change> = {}): Change {
	const content = contentOf(data);
	return change(path, inode('file', { size: content.size }), { content, ...more });
}
