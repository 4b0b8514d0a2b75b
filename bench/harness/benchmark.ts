/** What a figure must reach to pass. */
export type Goal =
	/** Our median, in the figure's unit. */
	| { readonly kind: 'at most'; readonly value: number }
	/** The median of what we take more than theirs, pair by pair, in the figure's unit. */
	| { readonly kind: 'extra'; readonly value: number }
	/** The median of ours divided by theirs, pair by pair. */
	| { readonly kind: 'ratio'; readonly value: number };

/** One thing measured: samples of ours and, where there is something to compare with, of theirs from the same moments. */
export interface Figure {
	/** Benchmark and figure, such as `restore/live layer`. */
	readonly name: string;
	/** What was measured, for people. */
	readonly what: string;
	readonly unit: 'ms' | 'MiB' | '%';
	readonly ours: readonly number[];
	/** As many as ours, each taken next to it; null when the goal is one of ours alone. */
	readonly theirs: readonly number[] | null;
	/** What `theirs` is. */
	readonly against: string | null;
	readonly goal: Goal;
}

/** Why a benchmark cannot be run here. */
export interface Skipped {
	readonly skipped: string;
}

/** What the caller chose. */
export interface BenchOptions {
	/** Sizes as the goals name them even where a smaller one says the same, and more samples. */
	readonly full: boolean;
	/** A git repository for the git phases. */
	readonly repository: string;
	/** Tells the user how far it is. */
	readonly note: (text: string) => void;
}

/** A benchmark. It leaves nothing behind, neither files nor processes. */
export type Benchmark = (options: BenchOptions) => Measured | Promise<Measured>;

type Measured = readonly Figure[] | Skipped;
