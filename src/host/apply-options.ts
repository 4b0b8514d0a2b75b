import type { HostStat } from './host-stat.ts';
import type { FileOptions } from './write-file.ts';

/** How changes are written to a tree of the host. */
export interface ApplyOptions extends FileOptions {
	/** All that is written is on disk when apply returns. */
	readonly durable: boolean;
	/** The tree is known to be empty: what is made gets its own name at once, without a temporary one and a rename. */
	readonly fresh?: boolean;
	/** Others have files of the tree open: what they read or write through these stays theirs, no file is written over. */
	readonly inUse?: boolean;
	/**
	 * Whether others have a file of the tree open: it is not written over then, and what they read and write through it stays
	 * theirs. They stand still, so that they see no file half written. Nobody has one open unless this is given.
	 */
	readonly isOpen?: (file: HostStat) => boolean;
	/**
	 * Called before each write to the tree with the index of the change that it belongs to: several times for one change,
	 * and not in the order of the list.
	 */
	readonly step?: (index: number) => void;
	/**
	 * Part of the name under which files are made before they take their place, `.dropcloth-<token>`; what has that name
	 * is ours and is taken away. To be unguessable where others write to the tree, and the same when a run that was cut
	 * short is done again.
	 */
	readonly token?: string;
	/** A run with this token was cut short, with other changes perhaps: what it may have left is taken away first. */
	readonly resumed?: boolean;
	/**
	 * Told, before it happens, of a directory of ours whose owner may not work in it (mode without u+rwx), the mode that it
	 * has and will get back. A killed run leaves it open; whoever does it again passes what was told as `relock`.
	 */
	readonly onUnlock?: (path: string, mode: number) => void;
	readonly relock?: ReadonlyMap<string, number>;
}
