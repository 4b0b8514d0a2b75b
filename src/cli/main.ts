#!/usr/bin/env node
import { run } from '@stricli/core';
import { applicationWith } from './application.ts';
import { CATALOG } from './catalog.ts';
import { COMMANDS, type CommandName } from './commands.ts';
import { readContext } from './context.ts';
import { exactArguments } from './exact-words.ts';
import { EXIT_BUG, EXIT_CODES } from './exit-codes.ts';
import { reportError } from './report-error.ts';

void main(exactArguments(process.argv.slice(2)));

async function main(words: readonly string[]): Promise<void> {
	const separator = words.indexOf('--');
	const own = separator < 0 ? words : words.slice(0, separator);
	try {
		const context = readContext(separator < 0 ? null : words.slice(separator + 1), CATALOG);
		const inputs = own.length === 0 ? ['help'] : own;
		await run(await applicationWith(wantedCommands(inputs[0] as string)), inputs, context);
	} catch (error) {
		process.exitCode = reportError(error, {
			json: own.includes('--json'),
			stdout: process.stdout,
			stderr: process.stderr,
		});
	}
	const code = process.exitCode;
	// the parser's own codes are negative: its refusals of a command line are our usage error
	if (typeof code === 'number' && (code < 0 || code > 255))
		process.exitCode = code === -1 || code === 255 ? EXIT_BUG : EXIT_CODES.usage.code;
}

/** The command that is asked for, or all of them when that is not known. */
function wantedCommands(word: string): CommandName[] {
	return Object.hasOwn(COMMANDS, word) ? [word as CommandName] : (Object.keys(COMMANDS) as CommandName[]);
}
