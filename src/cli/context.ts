import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { isatty } from 'node:tty';
import type { CommandContext } from '@stricli/core';
import { realPathOfNew } from '../sandbox/real-path.ts';
import { exactDirectory, exactEnvironment } from './exact-words.ts';
import { type ParserProcess, parserProcess } from './parser-process.ts';

/** What `help` and `completion` know of the other commands. */
export interface CommandCatalog {
	readonly names: readonly string[];
	definition(
		name: string,
	): Promise<{ readonly brief: string; readonly flags: Readonly<Record<string, { readonly brief: string }>> }>;
	showHelp(name: string, context: CliContext): Promise<void>;
}

/** The outer world, read once. Everything below cli/ takes what it needs of it as parameters. */
export interface CliContext extends CommandContext {
	readonly process: ParserProcess;
	/** Where what is said to people goes: stderr. */
	readonly messages: { write(text: string): unknown };
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly cwd: string;
	/** $HOME, else the home directory of the password database. */
	readonly home: string;
	/** The store when no --store is given. */
	readonly storePath: string;
	/** What stands after `--` on the command line; null when there is no `--`. */
	readonly command: readonly string[] | null;
	/** Names of the flags that stand on the command line, as in code: the others are by default. */
	readonly given: ReadonlySet<string>;
	/** Whether a person can be asked: both ends are a terminal. */
	readonly canAsk: boolean;
	readonly catalog: CommandCatalog;
}

/** Reads the environment for one invocation; `own` is the command line up to `--`. */
export function readContext(
	own: readonly string[],
	command: readonly string[] | null,
	catalog: CommandCatalog,
): CliContext {
	const env = exactEnvironment();
	// os.homedir() believes an empty HOME
	const home = env['HOME'] || userInfo().homedir;
	const dataHome = env['XDG_DATA_HOME'] || join(home, '.local/share');
	return {
		process: parserProcess(),
		messages: { write: (text) => process.stderr.write(text) },
		env,
		cwd: exactDirectory(),
		home,
		// a path through a symlink is the place that it leads to: nothing below is reached through links
		storePath: realPathOfNew(resolve(env['DROPCLOTH_HOME'] || join(dataHome, 'dropcloth'))),
		command,
		given: givenFlags(own),
		canAsk: isatty(0) && isatty(2),
		catalog,
	};
}

/** The names in camel case of all flags among these words: the parser tells only what each is set to. */
export function givenFlags(words: readonly string[]): ReadonlySet<string> {
	const names = words.flatMap((word) => /^--([a-z][\w-]*)/.exec(word)?.[1] ?? []);
	return new Set(names.map((name) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())));
}
