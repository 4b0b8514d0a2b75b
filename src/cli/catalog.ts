import { run } from '@stricli/core';
import { applicationWith } from './application.ts';
import { COMMANDS, type CommandName, loadDefinition } from './commands.ts';
import type { CommandCatalog } from './context.ts';

/** Every command, for those that speak about commands. */
export const CATALOG: CommandCatalog = {
	names: Object.keys(COMMANDS),
	definition: (name) => loadDefinition(name as CommandName),
	async showHelp(name, context) {
		await run(await applicationWith([name as CommandName]), [name, '--help'], context);
	},
};
