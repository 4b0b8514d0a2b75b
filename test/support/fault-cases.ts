import type { Ran } from './accounts.ts';

/** A command line whose every write is made to fail. */
export interface FaultCase {
	/** Command lines that come before, in a project with the files `one` and `d/two`. */
	readonly before: readonly (readonly string[])[];
	readonly line: readonly string[];
	/** Text in the paths that are counted. */
	readonly path: string;
	/** What a user would do next after a failure. */
	readonly next?: readonly string[];
}

/** What one failure came to. */
export interface FaultReport {
	/** Which one failed; 0 for the state before all. */
	readonly at: number;
	/** How many there were. */
	readonly counted: number;
	readonly told: Ran | null;
	readonly next?: Ran | null;
	/** Null when there is no session. */
	readonly session: { readonly snapshots: readonly (readonly string[])[]; readonly now: readonly string[] } | null;
	readonly host: readonly string[];
	/** What the integrity checks found. */
	readonly damage: readonly string[];
	/** What the recovery said. */
	readonly notices: readonly string[];
}

const inside = (script: string) => ['quick', '.', '--', 'sh', '-euc', script];

const FIRST = inside('echo 1 > new; echo more >> one; rm d/two');
const SECOND = inside('rm new; echo 2 > later; seq 5000 > long');

export const FAULT_CASES: Readonly<Record<string, FaultCase>> = {
	create: { before: [], line: ['init', 'project', '--base', '.'], path: '/sessions/' },
	run: { before: [FIRST], line: SECOND, path: '/session.db' },
	snap: { before: [FIRST], line: ['snap', 'project', 'tag'], path: '/session.db' },
	restore: { before: [FIRST, SECOND], line: ['restore', 'project', '2', '--yes'], path: '/session.db' },
	undo: { before: [FIRST, SECOND], line: ['undo', 'project', '--yes'], path: '/session.db' },
	'apply-store': {
		before: [FIRST, SECOND],
		line: ['apply', 'project', '--yes'],
		path: '/session.db',
		next: ['apply', 'project', '--abort'],
	},
	'apply-host': {
		before: [FIRST, SECOND],
		line: ['apply', 'project', '--yes'],
		path: '/project/',
		next: ['apply', 'project', '--abort'],
	},
	gc: { before: [FIRST, SECOND], line: ['gc', 'project', '--keep-last', '1'], path: '/session.db' },
};
