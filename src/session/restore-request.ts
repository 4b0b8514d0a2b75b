/** Which state a restore goes to: a ref's, so many steps back, or one step forward along the trail that undo left. */
export type RestoreAim = { readonly ref: string } | { readonly undo: number } | { readonly redo: true };

/** What a user asks of a restore, an undo or a redo. */
export interface RestoreRequest {
	readonly aim: RestoreAim;
	/** Paths as the user wrote them; empty for everything. */
	readonly paths: readonly string[];
	/** Where the user is: what relative paths are relative to. */
	readonly cwd: string;
	readonly home: boolean;
}

/** What a restore did, or would do, as it is told. */
export interface RestoreReport {
	readonly target: number;
	/** The snapshot that holds what was there before; null when that was no different from the position. */
	readonly present: number | null;
	/** What changed; paths of other trees than the project begin with the tree's role and a colon. */
	readonly paths: readonly string[];
	/** What should have been changed and could not be touched. */
	readonly kept: readonly string[];
}
