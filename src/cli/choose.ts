import type { TypedPositionalParameter } from '@stricli/core';
import { chooseSession } from '../session/find-session.ts';
import type { Notify, OwnedSession, Session } from '../session/session.ts';
import type { SessionPlace } from '../session/session-place.ts';
import type { Invocation } from './command.ts';
import type { CliContext } from './context.ts';

/** What the argument SESSION may be. */
export const SESSION_BRIEF = 'A session by name, the path of a session file, or . for the one over this directory';

/** The positional argument SESSION, which may be left out when no other is given. */
export const SESSION_ARGUMENT: TypedPositionalParameter<string | undefined, CliContext> = {
	parse: String,
	brief: `${SESSION_BRIEF}; that one when left out`,
	placeholder: 'SESSION',
	optional: true,
};

/** Which session an invocation means. */
export function chosenPlace({ cli, storePath }: Invocation<object>, given: string | undefined): SessionPlace {
	return chooseSession({
		storePath,
		given: given ?? null,
		fromEnvironment: cli.env['DROPCLOTH_SESSION'] ?? null,
		cwd: cli.cwd,
	});
}

/** Opens a session to look at it, and closes it after. */
export async function withSession<T>(
	invocation: Invocation<object>,
	given: string | undefined,
	use: (session: Session) => T | Promise<T>,
): Promise<T> {
	const { Session: Reader } = await import('../session/session.ts');
	const session = Reader.openToRead(chosenPlace(invocation, given));
	try {
		return await use(session);
	} finally {
		session.close();
	}
}

/** Becomes a session's owner, recovering it where needed, and gives it up after. */
export async function withOwnedSession<T>(
	invocation: Invocation<object>,
	given: string | undefined,
	use: (session: OwnedSession) => T | Promise<T>,
): Promise<T> {
	const notify: Notify = (text) => invocation.warn(text);
	const { OwnedSession: Owner } = await import('../session/session.ts');
	const session = await Owner.open(chosenPlace(invocation, given), notify);
	try {
		return await use(session);
	} finally {
		session.close();
	}
}
