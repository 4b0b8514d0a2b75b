import { resolve } from 'node:path';
import { Refusal } from '../base/refusal.ts';
import { checkBase } from '../session/base-directory.ts';
import { existingTarget, freshTarget, namedTarget, quickTarget, type RunTarget } from '../session/run-target.ts';
import type { CommandDefinition, Invocation } from './command.ts';
import { runCommand } from './run-command.ts';
import { SANDBOX_FLAGS, type SandboxFlags } from './sandbox-options.ts';

interface Flags extends SandboxFlags {
	readonly session?: string;
	readonly base?: string;
	readonly new: boolean;
}

/** Runs a command in a session. */
export const run: CommandDefinition<Flags, [string?]> = {
	brief: 'Run a command in a session’s sandbox; $SHELL without a command',
	details:
		'With SESSION, that session must exist. With --session it is made over the current directory, or over --base, when it is missing. With neither, it is the session of the current directory, as with `quick .`. A session that is live is joined: the command runs in the same sandbox beside what runs there, and --new never does that. The exit code is the command’s own.',
	examples: [
		'run -- npm test',
		'run api -- claude',
		'run --session try --base ~/code/api --net none -- make',
		'run api --net registry.npmjs.org,*.example.com:443 -- npm ci',
		'run api --show-binds -- true',
	],
	flags: {
		session: {
			kind: 'parsed',
			parse: String,
			brief: 'The session, made when it is missing',
			optional: true,
			placeholder: 'ID',
		},
		base: {
			kind: 'parsed',
			parse: String,
			brief: 'The base of a session that is made; the current directory when left out',
			optional: true,
			placeholder: 'DIR',
		},
		new: { kind: 'boolean', brief: 'A fresh session, never one that exists', default: false, withNegated: false },
		...SANDBOX_FLAGS,
	},
	positional: [
		{
			parse: String,
			brief: 'An existing session: its name, or the path of its file',
			placeholder: 'SESSION',
			optional: true,
		},
	],
	takesCommand: true,
	run: async (invocation, given) => runCommand(invocation, await targetOf(invocation, given)),
};

async function targetOf({ cli, flags, storePath }: Invocation<Flags>, given: string | undefined): Promise<RunTarget> {
	if (given !== undefined && (flags.session !== undefined || flags.new)) {
		throw new Refusal('usage', 'two-sessions', `'${given}' names a session that exists; --session and --new make one`);
	}
	if (given !== undefined && given !== '.' && flags.base !== undefined) {
		throw new Refusal(
			'usage',
			'base-of-existing',
			`session '${given}' has its base already; --base is for one that is made`,
			{
				hint: `give it another with \`dropcloth attach ${given} DIR\``,
			},
		);
	}
	if (given !== undefined && given !== '.') return existingTarget(storePath, given);
	const directory = () =>
		checkBase(resolve(cli.cwd, flags.base ?? '.'), { home: cli.home, storePath, force: flags.force });
	if (flags.new)
		return flags.session === undefined
			? freshTarget(storePath, directory())
			: newTarget(storePath, flags.session, directory());
	if (flags.session !== undefined) return namedTarget(storePath, flags.session, directory(), flags.base !== undefined);
	return quickTarget(storePath, directory());
}

async function newTarget(storePath: string, id: string, directory: string): Promise<RunTarget> {
	const target = await namedTarget(storePath, id, directory, false);
	if (target.create !== null) return { ...target, create: { ...target.create, mustBeNew: true } };
	throw new Refusal('failed', 'session-exists', `session '${id}' exists already`, {
		hint: 'leave out --new to continue it',
	});
}
