import type { RefusalKind } from '../base/refusal.ts';

/** One exit code: its number and what it tells a script. */
export interface ExitCode {
	readonly code: number;
	readonly meaning: string;
}

/** Exit codes by the kind of refusal. Once a command has started in the sandbox, its own exit code wins, unless it was ended. */
export const EXIT_CODES: Readonly<Record<RefusalKind, ExitCode>> = {
	failed: { code: 1, meaning: 'refused or failed' },
	usage: { code: 2, meaning: 'the command line makes no sense' },
	busy: { code: 3, meaning: 'the session is live or busy' },
	sandbox: { code: 4, meaning: 'the mount or the sandbox cannot be set up' },
	invalid: { code: 5, meaning: 'the session or artifact is missing, malformed or invalid' },
	conflict: { code: 6, meaning: 'conflict at apply, merge or sync' },
	drifted: { code: 7, meaning: 'the base drifted' },
	full: { code: 8, meaning: 'quota or disk full' },
};

/** Exit codes that no refusal stands for. */
export const OTHER_EXIT_CODES: readonly ExitCode[] = [
	{ code: 0, meaning: 'done, or nothing to do' },
	{ code: 70, meaning: 'a bug of ours; the stack is on stderr' },
	{ code: 124, meaning: 'the command was ended because its --timeout had passed' },
	{ code: 126, meaning: 'the command cannot be executed' },
	{ code: 127, meaning: 'the command was not found' },
	{ code: 128, meaning: '128+n: the command was killed by signal n' },
];

/** The exit code of a run that was ended by its --timeout, as timeout(1) has it. */
export const EXIT_TIMEOUT = 124;

/** The exit code of a bug of ours (sysexits.h: EX_SOFTWARE). */
export const EXIT_BUG = 70;
