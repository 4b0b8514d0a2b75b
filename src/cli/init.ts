import { resolve } from 'node:path';
import { printable } from '../base/printable.ts';
import { checkBase } from '../session/base-directory.ts';
import { OwnedSession } from '../session/session.ts';
import { placeInStore } from '../session/session-place.ts';
import type { CommandDefinition } from './command.ts';

interface Flags {
	readonly base?: string;
	readonly force: boolean;
}

/** Makes an empty session. */
export const init: CommandDefinition<Flags, [string]> = {
	brief: 'Make an empty session, with or without a base directory',
	examples: ['init api --base ~/code/api', 'init scratch'],
	flags: {
		base: {
			kind: 'parsed',
			parse: String,
			brief: 'The directory that the session reads through to',
			optional: true,
			placeholder: 'DIR',
		},
		force: {
			kind: 'boolean',
			brief: 'Accept a base that is a bad idea, such as the home directory',
			default: false,
			withNegated: false,
		},
	},
	positional: [{ parse: String, brief: 'The name of the new session', placeholder: 'ID' }],
	async run({ cli, flags, storePath }, id) {
		const { force, base } = flags;
		const place = placeInStore(storePath, id);
		const basePath =
			base === undefined ? null : checkBase(resolve(cli.cwd, base), { home: cli.home, storePath, force });
		(await OwnedSession.create(place, basePath)).close();
		const over = basePath === null ? 'without a base' : `over ${printable(basePath)}`;
		return { json: { sessionId: id, dbPath: place.dbPath, basePath }, text: `made session ${id} ${over}` };
	},
};
