import { resolve } from 'node:path';
import { printable } from '../base/printable.ts';
import { checkBase } from '../session/base-directory.ts';
import { rebaseSession } from '../session/rebase-session.ts';
import { SESSION_BRIEF, withOwnedSession } from './choose.ts';
import type { CommandDefinition } from './command.ts';

interface Flags {
	readonly force: boolean;
}

/** Gives a session its base. */
export const attach: CommandDefinition<Flags, [string, string]> = {
	brief: 'Make a host directory the read-only base of a session',
	details: 'Also after the base was moved: the session’s changes stay as they are and are read over the new place.',
	examples: ['attach api ~/code/api'],
	flags: {
		force: {
			kind: 'boolean',
			brief: 'Accept a base that is a bad idea, such as the home directory',
			default: false,
			withNegated: false,
		},
	},
	positional: [
		{ parse: String, brief: SESSION_BRIEF, placeholder: 'SESSION' },
		{ parse: String, brief: 'The directory', placeholder: 'DIR' },
	],
	run(invocation, given, directory) {
		const { cli, storePath, flags } = invocation;
		const basePath = checkBase(resolve(cli.cwd, directory), { home: cli.home, storePath, force: flags.force });
		return withOwnedSession(invocation, given, (session) => {
			rebaseSession(session, basePath);
			return {
				json: { sessionId: session.id, basePath },
				text: `session ${session.id} is over ${printable(basePath)}`,
			};
		});
	},
};
