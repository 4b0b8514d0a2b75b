#!/usr/bin/env node
import { ExitCode, run } from '@stricli/core';
import { Refusal } from '../base/refusal.ts';
import { applicationWith } from './application.ts';
import { CATALOG } from './catalog.ts';
import { COMMANDS, type CommandName } from './commands.ts';
import { type CliContext, readContext } from './context.ts';
import { exactArguments } from './exact-words.ts';
import { reportError } from './report-error.ts';

void main(exactArguments(process.argv.slice(2)));

async function main(words: readonly string[]): Promise<void> {
	const separator = words.indexOf('--');
	const own = separator < 0 ? words : words.slice(0, separator);
	const json = own.includes('--json');
	try {
		const context = readContext(own, separator < 0 ? null : words.slice(separator + 1), CATALOG);
		const inputs = own.length === 0 ? ['help'] : own;
		await run(await applicationWith(wantedCommands(inputs[0] as string)), inputs, context);
		refuseComplaint(context, inputs[0] as string);
	} catch (error) {
		process.exitCode = reportError(error, { json, stdout: process.stdout, stderr: process.stderr });
	}
}

/** What the parser has against the command line is a usage error; anything else that it ends with is a bug. */
function refuseComplaint({ process: { complaint } }: CliContext, word: string): void {
	const code = process.exitCode;
	if (typeof code !== 'number' || code >= 0) return;
	if (code !== ExitCode.UnknownCommand && code !== ExitCode.InvalidArgument) throw new Error(complaint());
	const hint = Object.hasOwn(COMMANDS, word) ? `see \`dropcloth help ${word}\`` : 'see `dropcloth help`';
	throw new Refusal('usage', 'bad-command-line', complaint().split('\n').join('; '), { hint });
}

/** The command that is asked for, or all of them when that is not known. */
function wantedCommands(word: string): CommandName[] {
	return Object.hasOwn(COMMANDS, word) ? [word as CommandName] : (Object.keys(COMMANDS) as CommandName[]);
}
