import { resolve } from 'node:path';
import { buildCommand, type Command, type FlagParametersForType, type TypedPositionalParameter } from '@stricli/core';
import { Refusal } from '../base/refusal.ts';
import { realPathOfNew } from '../sandbox/real-path.ts';
import type { CliContext } from './context.ts';
import { explainInside } from './inside.ts';
import { reportError } from './report-error.ts';

/** Flags that every command has. */
export interface CommonFlags {
	readonly json: boolean;
	readonly store?: string;
}

/** What a command has to say: the value for --json, and the same for people. */
export interface Answer {
	readonly json: unknown;
	/** Without the last newline; '' prints nothing. */
	readonly text: string;
	/** Exit code; 0 when left out. */
	readonly exit?: number;
}

/** What the handler of a command gets beside its arguments. */
export interface Invocation<FLAGS> {
	readonly cli: CliContext;
	readonly flags: FLAGS & CommonFlags;
	/** The store to work in. */
	readonly storePath: string;
	/** Says something to people on stderr, such as a warning; nothing with --json but real warnings. */
	warn(text: string): void;
}

/** One command as data; its manual, help and completions come from here. */
export interface CommandDefinition<FLAGS extends object, ARGS extends readonly unknown[]> {
	/** One line, starting with a verb. */
	readonly brief: string;
	/** Further paragraphs. */
	readonly details?: string;
	/** Whole command lines without the program's name. */
	readonly examples: readonly string[];
	readonly flags: FlagParametersForType<FLAGS, CliContext>;
	readonly positional: { readonly [K in keyof ARGS]: TypedPositionalParameter<ARGS[K], CliContext> };
	/** Whether `-- COMMAND` may follow. */
	readonly takesCommand?: boolean;
	run(invocation: Invocation<FLAGS>, ...args: ARGS): Promise<Answer | number> | Answer | number;
}

/** Any command, its kinds of flags and arguments forgotten. */
export interface AnyCommand {
	readonly brief: string;
	readonly details?: string;
	readonly examples: readonly string[];
	readonly flags: Readonly<Record<string, { readonly brief: string }>>;
	readonly positional: readonly { readonly brief: string }[];
	readonly takesCommand?: boolean;
	run(invocation: Invocation<object>, ...args: unknown[]): Promise<Answer | number> | Answer | number;
}

const COMMON_FLAGS: FlagParametersForType<CommonFlags, CliContext> = {
	json: {
		kind: 'boolean',
		brief: 'Print one JSON value on stdout; messages go to stderr',
		default: false,
		withNegated: false,
	},
	store: {
		kind: 'parsed',
		parse: String,
		brief: 'The store, instead of $DROPCLOTH_HOME',
		optional: true,
		placeholder: 'DIR',
	},
};

/** The same command as the argument parser takes it. */
export function stricliCommand(definition: AnyCommand): Command<CliContext> {
	const parameters = {
		flags: { ...definition.flags, ...COMMON_FLAGS },
		positional: { kind: 'tuple', parameters: definition.positional },
	};
	return buildCommand<CommonFlags & Readonly<Record<string, unknown>>, readonly unknown[], CliContext>({
		docs: { brief: definition.brief, fullDescription: fullDescription(definition) },
		// each definition was checked against the parser's types where it is written; here they are many
		parameters: parameters as never,
		async func(flags, ...args) {
			await perform(definition, this, flags, args);
		},
	});
}

async function perform(
	definition: AnyCommand,
	cli: CliContext,
	flags: CommonFlags,
	args: readonly unknown[],
): Promise<void> {
	const { messages } = cli;
	const print = (text: string) => {
		process.stdout.on('error', endQuietlyOnBrokenPipe);
		cli.process.stdout.write(`${text}\n`);
	};
	const storePath = flags.store === undefined ? cli.storePath : realPathOfNew(resolve(cli.cwd, flags.store));
	try {
		if (cli.command !== null && definition.takesCommand !== true) {
			throw new Refusal('usage', 'no-command-here', `this command takes no \`-- ${cli.command.join(' ')}\``);
		}
		const warn = (text: string) => messages.write(`dropcloth: ${text}\n`);
		const answer = await definition.run({ cli, flags, storePath, warn }, ...args);
		if (typeof answer === 'number') {
			cli.process.exitCode = answer;
			return;
		}
		const text = flags.json ? JSON.stringify(answer.json, null, 2) : answer.text;
		if (text !== '') print(text);
		cli.process.exitCode = answer.exit ?? 0;
	} catch (error) {
		cli.process.exitCode = reportError(explainInside(error, cli, storePath), {
			json: flags.json,
			stdout: cli.process.stdout,
			stderr: messages,
		});
	}
}

/** Whoever read our output has seen enough, as `head` does; what cannot be written otherwise is told. */
export function endQuietlyOnBrokenPipe(error: NodeJS.ErrnoException): void {
	if (error.code === 'EPIPE') process.exit();
	process.exit(reportError(error, { json: false, stdout: process.stdout, stderr: process.stderr }));
}

function fullDescription({ brief, details, examples }: AnyCommand): string {
	const lines = examples.map((example) => `  dropcloth ${example}`);
	return [`${brief}.`, ...(details === undefined ? [] : [details]), ['Examples:', ...lines].join('\n')].join('\n\n');
}
