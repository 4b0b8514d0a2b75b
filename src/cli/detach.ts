import { rebaseSession } from '../session/rebase-session.ts';
import { SESSION_ARGUMENT, withOwnedSession } from './choose.ts';
import type { CommandDefinition } from './command.ts';

/** Takes a session's base away. */
export const detach: CommandDefinition<object, [string?]> = {
	brief: 'Take the base away from a session; its changes stay',
	examples: ['detach api'],
	flags: {},
	positional: [SESSION_ARGUMENT],
	run: (invocation, given) =>
		withOwnedSession(invocation, given, (session) => {
			rebaseSession(session, null);
			return { json: { sessionId: session.id, basePath: null }, text: `session ${session.id} has no base` };
		}),
};
