import { SESSION_BRIEF } from './choose.ts';
import type { CommandDefinition } from './command.ts';
import { RESTORE_FLAGS, type RestoreFlags, restoreBy } from './restore-options.ts';

/** Puts a session back to a snapshot. */
export const restore: CommandDefinition<RestoreFlags, [string, string]> = {
	brief: 'Put a session back to a snapshot; the state it leaves stays in history',
	details:
		'What is there now becomes a snapshot first when it is in none, so nothing is lost. With --path, only those paths. What runs in a live session stands still meanwhile, and then sees the restored files.',
	examples: ['restore api 3', 'restore api before-upgrade --yes', 'restore api @~2 --path src --dry-run'],
	flags: RESTORE_FLAGS,
	positional: [
		{ parse: String, brief: SESSION_BRIEF, placeholder: 'SESSION' },
		{
			parse: String,
			brief: 'A snapshot: its number, its tag, or @~2 for the second before the present',
			placeholder: 'REF',
		},
	],
	run: (invocation, given, ref) => restoreBy(invocation, given, 'restore', { ref }),
};
