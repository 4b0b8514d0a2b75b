import type { Inode } from '../base/inode.ts';
import { readInode } from '../host/read-inode.ts';

/** What the root directory of a new tree looks like: like the host directory beneath it. */
export function rootInode(basePath: string | null): Inode | undefined {
	return basePath === null ? undefined : { ...readInode(basePath), opaque: false };
}
