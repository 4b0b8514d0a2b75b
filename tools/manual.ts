import { type Application, type CommandContext, generateHelpTextForAllCommands } from '@stricli/core';
import { applicationWith } from '../src/cli/application.ts';
import { COMMANDS, type CommandName, loadDefinition } from '../src/cli/commands.ts';
import { EXIT_CODES, type ExitCode, OTHER_EXIT_CODES } from '../src/cli/exit-codes.ts';
import { markdownTable } from './markdown-table.ts';

/** One command as the command line itself shows it. */
export interface CommandHelp {
	readonly name: string;
	/** One line, starting with a verb. */
	readonly brief: string;
	/** What `dropcloth NAME --help` prints. */
	readonly help: string;
}

/** docs/manual.md: every command with its help, and the exit codes. */
export async function manualPage(): Promise<string> {
	const commands = await commandHelps();
	return [
		'# Manual',
		'Generated from the definitions in `src/cli/`; `npm run docs` writes it. The same text is shown by `dropcloth help COMMAND`.',
		'## Commands',
		markdownTable(
			['command', 'what it does'],
			commands.map(({ name, brief }) => [`[\`${name}\`](#${name})`, brief]),
		),
		'## Exit codes',
		markdownTable(
			['code', 'meaning'],
			exitCodes().map(({ code, meaning }) => [String(code), meaning]),
		),
		'Once the command has started in the sandbox, its own exit code is the exit code, unless it was ended: by --timeout (124) or by --quota (8).',
		...commands.flatMap(({ name, help }) => [`## ${name}`, `\`\`\`\n${help}\n\`\`\``]),
		'',
	]
		.join('\n\n')
		.replace(/\n+$/, '\n');
}

/** Every command in the order of the command table. */
export async function commandHelps(): Promise<CommandHelp[]> {
	const names = Object.keys(COMMANDS) as CommandName[];
	// help depends on no context, which the library's type can't say
	const application = (await applicationWith(names)) as unknown as Application<CommandContext>;
	const texts = new Map(generateHelpTextForAllCommands(application));
	return Promise.all(
		names.map(async (name) => {
			const help = texts.get(`dropcloth ${name}`);
			if (help === undefined) throw new Error(`the argument parser has no help for ${name}`);
			return { name, brief: (await loadDefinition(name)).brief, help: help.trim() };
		}),
	);
}

/** Every exit code by number. */
export function exitCodes(): ExitCode[] {
	return [...OTHER_EXIT_CODES, ...Object.values(EXIT_CODES)].sort((a, b) => a.code - b.code);
}
