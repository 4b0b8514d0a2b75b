/** One thing that this machine, or a sandbox on it, can or cannot do. */
export interface Finding {
	/** Stable and kebab-case. */
	readonly check: string;
	readonly ok: boolean;
	/** Whether a run depends on it. */
	readonly needed: boolean;
	readonly detail: string;
	readonly remedy: string | null;
}

/** Makes one; the remedy is dropped where nothing is wrong. */
export function finding(
	check: string,
	ok: boolean,
	needed: boolean,
	detail: string,
	remedy: string | null = null,
): Finding {
	return { check, ok, needed, detail, remedy: ok ? null : remedy };
}
