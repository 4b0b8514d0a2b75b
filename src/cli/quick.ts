import { resolve } from 'node:path';
import { checkBase } from '../session/base-directory.ts';
import { quickTarget } from '../session/run-target.ts';
import type { CommandDefinition } from './command.ts';
import { runCommand } from './run-command.ts';
import { SANDBOX_FLAGS, type SandboxFlags } from './sandbox-options.ts';

/** Runs a command over a directory. */
export const quick: CommandDefinition<SandboxFlags, [string]> = {
	brief: 'Run a command over a directory: makes the session, or resumes it, in one go',
	details:
		'The session is named after the directory. The directory itself stays as it is until `apply`. A session that is live is joined: the command runs in the same sandbox beside what runs there. The exit code is the command’s own.',
	examples: ['quick ~/code/api -- claude', 'quick .'],
	flags: SANDBOX_FLAGS,
	positional: [{ parse: String, brief: 'The directory', placeholder: 'DIR' }],
	takesCommand: true,
	async run(invocation, given) {
		const { cli, flags, storePath } = invocation;
		const directory = checkBase(resolve(cli.cwd, given), { home: cli.home, storePath, force: flags.force });
		return runCommand(invocation, await quickTarget(storePath, directory), directory);
	},
};
