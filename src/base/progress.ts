/** Told how far a long piece of work has come. The library never prints; the command line draws it. */
export interface Progress {
	/** `done` of `total` units (files, bytes); total 0 when it is not known. */
	report(done: number, total: number, what: string): void;
}

/** Says nothing. */
export const silent: Progress = { report() {} };
