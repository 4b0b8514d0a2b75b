import type { CommandDefinition } from './command.ts';
import type { CommandCatalog } from './context.ts';

type Shell = 'bash' | 'zsh' | 'fish';

/** What can be completed: each command with its brief and its flags. */
interface Completable {
	readonly name: string;
	readonly brief: string;
	readonly flags: readonly { readonly flag: string; readonly brief: string }[];
}

/** A script for the user's shell. */
export const completion: CommandDefinition<object, [Shell]> = {
	brief: 'Print a completion script for a shell',
	examples: ['completion bash > ~/.local/share/bash-completion/completions/dropcloth', 'completion fish | source'],
	flags: {},
	positional: [{ parse: parseShell, brief: 'bash, zsh or fish', placeholder: 'SHELL' }],
	async run({ cli }, shell) {
		const script = SCRIPTS[shell](await completables(cli.catalog));
		return { json: { shell, script }, text: script };
	},
};

const SCRIPTS: Readonly<Record<Shell, (commands: readonly Completable[]) => string>> = {
	bash: (commands) =>
		[
			'_dropcloth() {',
			'  local word=$2',
			'  if [ "$COMP_CWORD" -eq 1 ]; then',
			`    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$word")); return`,
			'  fi',
			`  case "\${COMP_WORDS[1]}" in`,
			...commands.map(
				({ name, flags }) =>
					`    ${name}) COMPREPLY=($(compgen -f -W "${flags.map(({ flag }) => flag).join(' ')}" -- "$word"));;`,
			),
			'  esac',
			'}',
			'complete -o filenames -F _dropcloth dropcloth',
		].join('\n'),
	zsh: (commands) =>
		[
			'#compdef dropcloth',
			'_dropcloth() {',
			'  local -a commands',
			'  commands=(',
			...commands.map(({ name, brief }) => `    '${name}:${zshText(brief)}'`),
			'  )',
			"  if (( CURRENT == 2 )); then _describe 'command' commands; return; fi",
			'  case "$words[2]" in',
			...commands.map(
				({ name, flags }) =>
					`    ${name}) _arguments ${flags.map(({ flag, brief }) => `'${flag}[${zshText(brief)}]'`).join(' ')} '*:file:_files';;`,
			),
			'  esac',
			'}',
			'compdef _dropcloth dropcloth',
		].join('\n'),
	fish: (commands) =>
		commands
			.flatMap(({ name, brief, flags }) => [
				`complete -c dropcloth -n __fish_use_subcommand -a ${name} -d '${fishText(brief)}'`,
				...flags.map(
					({ flag, brief: text }) =>
						`complete -c dropcloth -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)} -d '${fishText(text)}'`,
				),
			])
			.join('\n'),
};

async function completables(catalog: CommandCatalog): Promise<Completable[]> {
	return Promise.all(
		catalog.names.map(async (name) => {
			const { brief, flags } = await catalog.definition(name);
			const own = Object.entries(flags);
			const all = [
				...own,
				['json', { brief: 'Print one JSON value' }] as const,
				['store', { brief: 'The store' }] as const,
			];
			return { name, brief, flags: all.map(([flag, { brief: text }]) => ({ flag: `--${kebab(flag)}`, brief: text })) };
		}),
	);
}

function parseShell(text: string): Shell {
	if (Object.hasOwn(SCRIPTS, text)) return text as Shell;
	throw new Error(`${text} is none of ${Object.keys(SCRIPTS).join(', ')}`);
}

function kebab(name: string): string {
	return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function zshText(text: string): string {
	return text.replace(/[[\]:\\]/g, '\\$&').replaceAll("'", "'\\''");
}

function fishText(text: string): string {
	return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
}
