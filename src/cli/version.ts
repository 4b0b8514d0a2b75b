import { SCHEMA_VERSION } from '../store/schema.ts';
import type { CommandDefinition } from './command.ts';
import { VERSION } from './version-facts.ts';

/** Which version this is, and of what it can read. */
export const version: CommandDefinition<object, []> = {
	brief: 'Show the version of the program and of the session files it reads',
	examples: ['version', 'version --json'],
	flags: {},
	positional: [],
	run: () => ({
		json: { version: VERSION, schemaVersion: SCHEMA_VERSION },
		text: `dropcloth ${VERSION} (session schema ${SCHEMA_VERSION})`,
	}),
};
