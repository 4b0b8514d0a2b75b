import type { Blobs } from './blobs.ts';
import type { Database } from './driver.ts';
import type { Head } from './head.ts';
import type { Snapshots } from './snapshots.ts';

/** What the parts of the tree work on; Store is one. */
export interface TreeParts {
	readonly db: Database;
	readonly head: Head;
	readonly blobs: Blobs;
	readonly snapshots: Snapshots;
	/** See Store.write. */
	write<T>(action: () => T): T;
}
