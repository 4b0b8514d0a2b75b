/** One environment variable: what it decides, and what holds without it. */
export interface EnvironmentVariable {
	readonly name: string;
	readonly meaning: string;
	/** What holds when it is unset or empty. */
	readonly otherwise: string;
}

/** Every variable that the command line reads. Nothing below cli/ reads any; docs/settings.md shows this table. */
export const VARIABLES_READ: readonly EnvironmentVariable[] = [
	{
		name: 'DROPCLOTH_HOME',
		meaning: 'the store: the directory that holds the sessions; `--store DIR` goes before it',
		otherwise: '`$XDG_DATA_HOME/dropcloth`',
	},
	{
		name: 'XDG_DATA_HOME',
		meaning: 'where users’ data lies, as the XDG base directory specification says',
		otherwise: '`$HOME/.local/share`',
	},
	{
		name: 'HOME',
		meaning: 'the home directory: seen inside through a layer of its own',
		otherwise: 'the password database’s entry',
	},
	{
		name: 'DROPCLOTH_SESSION',
		meaning: 'the session that a command means when none is named',
		otherwise: 'the session whose base holds the current directory; when there are several, one must be named',
	},
	{
		name: 'DROPCLOTH_SOCKET',
		meaning: 'inside a sandbox, the channel to its owner: see `dropcloth checkpoint`',
		otherwise: 'this is not inside a sandbox',
	},
	{
		name: 'PATH',
		meaning: 'where `node` is found, so that it is found inside as well',
		otherwise: 'Node is shown where it lies',
	},
	{ name: 'SHELL', meaning: 'what `run` and `quick` start without a command', otherwise: '`/bin/sh`' },
];

/** Every variable that the sandbox sets for the command inside. */
export const VARIABLES_SET: readonly Omit<EnvironmentVariable, 'otherwise'>[] = [
	{ name: 'DROPCLOTH', meaning: '`1`: the command runs in a session' },
	{ name: 'DROPCLOTH_SESSION', meaning: 'which session' },
	{ name: 'DROPCLOTH_BACKEND', meaning: '`kernel` or `fuse`: who serves the files' },
	{ name: 'DROPCLOTH_SOCKET', meaning: 'the channel by which the command can ask for a checkpoint, when there is one' },
	{ name: 'PWD', meaning: 'the working directory, which is the same path as outside' },
];

/** When automatic checkpoints are taken where a run does not say: after so long a rest, and after so long without one. */
export const CHECKPOINT_TIMES = { quietMs: 2_000, intervalMs: 60_000 };
