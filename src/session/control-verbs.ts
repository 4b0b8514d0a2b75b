import type { RefusalKind } from '../base/refusal.ts';
import type { JoinAnswer, JoinRequest } from './join-terms.ts';
import type { RestoreReport, RestoreRequest } from './restore-request.ts';

/** What can be asked of a live session's owner: for each verb what goes with the request, and what the answer is. */
export interface ControlVerbs {
	/** Who is there. */
	ping: { request: object; answer: { pid: number; argv: readonly string[] } };
	/** Ends the run. */
	stop: { request: object; answer: { stopped: true } };
	/** Takes the layer in and makes a snapshot; `frozenMs` is how long everything inside stood still. */
	snap: {
		request: { tag: string | null; note: string | null; force: boolean };
		answer: { id: number; files: number; bytes: number; frozenMs: number };
	};
	/**
	 * Plans a restore, and unless it is a dry run does it. `report` is null when there is nothing to undo or redo; `expected`
	 * is the snapshot that the user was asked about, if any.
	 */
	restore: {
		request: { restore: RestoreRequest; dryRun: boolean; expected: number | null };
		answer: { report: RestoreReport | null };
	};
	/**
	 * Lets another command into the sandbox. The connection is held for as long as that runs: a {@link JoinedWord} comes from
	 * the owner, a {@link JoinedEnd} from the client, which the owner answers by closing. A client that is gone has ended.
	 */
	join: { request: JoinRequest; answer: JoinAnswer };
	/** Takes the layer in, so that `@` is what is inside right now. */
	'take-in': { request: object; answer: { takenIn: true } };
}

export type ControlVerb = keyof ControlVerbs;

export type ControlAnswer<VERB extends ControlVerb> = ControlVerbs[VERB]['answer'];

/** One request on the control socket: a line of JSON. */
export type ControlRequest<VERB extends ControlVerb> = { readonly verb: VERB } & Readonly<
	ControlVerbs[VERB]['request']
>;

/** What the owner does for each verb. `hold` keeps the connection open after the answer, to be closed by the handler. */
export type ControlHandlers = {
	readonly [VERB in ControlVerb]: (
		request: ControlRequest<VERB>,
		hold: () => HeldConnection,
	) => Promise<ControlAnswer<VERB>> | ControlAnswer<VERB>;
};

/** The owner's end of a connection that is held beyond its answer. */
export interface HeldConnection {
	/** The next line of the client, parsed; null when the client is gone without one. */
	readonly word: Promise<unknown>;
	/** Sends a line. */
	tell(word: object): void;
	close(): void;
}

/** A failure as it crosses the socket. */
export interface ControlFailure {
	readonly kind: RefusalKind;
	readonly code: string;
	readonly message: string;
	readonly hint: string | null;
}
