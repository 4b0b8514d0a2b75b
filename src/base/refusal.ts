/** Why a command ends without having done its work; cli/exit-codes.ts gives each its number. */
export type RefusalKind =
	/** Refused or failed. */
	| 'failed'
	/** The command line makes no sense. */
	| 'usage'
	/** The session is live or busy. */
	| 'busy'
	/** The mount or the sandbox cannot be set up. */
	| 'sandbox'
	/** The session or artifact is missing, malformed or invalid. */
	| 'invalid'
	/** Both sides changed the same thing. */
	| 'conflict'
	/** The base moved since the session read it. */
	| 'drifted'
	/** Quota or disk full. */
	| 'full';

/** A clear no to the user: what is wrong, with the thing and the value named, and what to do. */
export class Refusal extends Error {
	override readonly name = 'Refusal';
	readonly kind: RefusalKind;
	/** Stable and kebab-case, such as `session-live`. */
	readonly code: string;
	/** What the user can do about it, or null. */
	readonly hint: string | null;
	/** Further facts for `--json`, such as the list of conflicts. */
	readonly details: unknown;

	constructor(
		kind: RefusalKind,
		code: string,
		message: string,
		more: { hint?: string; cause?: unknown; details?: unknown } = {},
	) {
		super(message, { cause: more.cause });
		this.kind = kind;
		this.code = code;
		this.hint = more.hint ?? null;
		this.details = more.details;
	}
}
