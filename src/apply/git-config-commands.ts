/**
 * The settings of a git config that make git run something, or read further settings, and that it did not have before;
 * each as `section.key=value`. Understands the file as git-config(1), "Syntax", has it, quotes in values aside.
 */
export function newGitCommands(before: string, after: string): string[] {
	const known = new Set(commandsIn(before));
	return [...new Set(commandsIn(after))].filter((setting) => !known.has(setting));
}

/** Section and key, in lower case, of what git runs or loads (git-config(1)). */
const COMMAND_SETTINGS: readonly RegExp[] = [
	/^alias\./,
	/^include(if)?\./,
	/^core\.(fsmonitor|hookspath|sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand|attributesfile|worktree)$/,
	/^sequence\.editor$/,
	/^(filter|merge)\./,
	/^diff\.(external$|.*\.(command|textconv)$)/,
	/^(difftool|mergetool|guitool|browser|man)\..*\.(cmd|path)$/,
	/^gpg\.(.*\.)?(program|defaultkeycommand)$/,
	/^credential\.(.*\.)?helper$/,
	/^(pager|interactive)\./,
	/^submodule\..*\.update$/,
	/^remote\..*\.(uploadpack|receivepack|vcs|proxy)$/,
	/^(uploadpack|receive)\..*(hook|command)$/,
	/^protocol\./,
	/^url\..*\.(insteadof|pushinsteadof)$/,
	/^http\.(.*\.)?proxy$/,
	/^sendemail\./,
	/^trailer\..*\.(command|cmd)$/,
	/^hook\./,
];

function commandsIn(config: string): string[] {
	return settingsIn(config)
		.filter(([name]) => COMMAND_SETTINGS.some((setting) => setting.test(name)))
		.map(([name, value]) => `${name}=${value}`);
}

/** Names in lower case but for the subsection's, which does not matter for what is looked for; a lone key is `true`. */
function settingsIn(config: string): [name: string, value: string][] {
	const settings: [string, string][] = [];
	let section = '';
	const joinedLines = config.replaceAll(/\\\r?\n/g, '');
	for (const line of joinedLines.split(/\r\n|\n|\r/)) {
		let rest = line.trim();
		const header = /^\[\s*([^\]"\s]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*/.exec(rest);
		if (header !== null) {
			section = [header[1], header[2]].filter((part) => part !== undefined).join('.');
			rest = rest.slice(header[0].length);
		}
		const key = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/.exec(rest);
		if (key !== null) settings.push([`${section}.${key[1]}`.toLowerCase(), key[2]?.trim() ?? 'true']);
	}
	return settings;
}
