import { Refusal } from '../base/refusal.ts';
import type { Answer, CommandDefinition } from './command.ts';
import type { CommandCatalog } from './context.ts';
import { EXIT_CODES, OTHER_EXIT_CODES } from './exit-codes.ts';
import { table } from './format.ts';

/** What the program can do, or one command in full. */
export const help: CommandDefinition<object, [string?]> = {
	brief: 'Show every command, or one in full',
	examples: ['help', 'help run'],
	flags: {},
	positional: [{ parse: String, brief: 'A command', placeholder: 'COMMAND', optional: true }],
	async run({ cli }, name) {
		if (name === undefined) return overview(cli.catalog);
		if (!cli.catalog.names.includes(name)) {
			throw new Refusal('usage', 'no-such-command', `there is no command '${name}'`, { hint: 'see `dropcloth help`' });
		}
		await cli.catalog.showHelp(name, cli);
		return 0;
	},
};

async function overview(catalog: CommandCatalog): Promise<Answer> {
	const commands = await Promise.all(
		catalog.names.map(async (name) => ({ name, brief: (await catalog.definition(name)).brief })),
	);
	const codes = [...OTHER_EXIT_CODES, ...Object.values(EXIT_CODES)].sort((a, b) => a.code - b.code);
	const text = [
		'dropcloth: lets an AI agent loose on a directory without risk',
		'',
		'  dropcloth quick DIR -- COMMAND    run a command over DIR; DIR stays as it is',
		'  dropcloth diff                    what it changed',
		'  dropcloth undo                    take it back',
		'  dropcloth apply                   write it into DIR',
		'',
		'Commands:',
		table(commands.map(({ name, brief }) => [`  ${name}`, brief])),
		'',
		'Exit codes:',
		table(codes.map(({ code, meaning }) => [`  ${code}`, meaning])),
		'',
		'`dropcloth help COMMAND` shows one in full. Every command takes --json and --store DIR.',
	].join('\n');
	return { json: { commands, exitCodes: codes }, text };
}
