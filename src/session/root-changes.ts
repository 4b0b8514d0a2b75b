import type { Change } from '../base/change.ts';
import type { Root } from '../store/roots.ts';

/** What differs in one tree. */
export interface RootChanges {
	readonly root: Root;
	readonly changes: readonly Change[];
}
