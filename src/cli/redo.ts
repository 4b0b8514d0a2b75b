import { SESSION_ARGUMENT } from './choose.ts';
import type { CommandDefinition } from './command.ts';
import { RESTORE_FLAGS, type RestoreFlags, restoreBy } from './restore-options.ts';

/** Takes an undo back. */
export const redo: CommandDefinition<RestoreFlags, [string?]> = {
	brief: 'Take the last undo back, as long as nothing new was done since',
	details: 'Only `undo` leaves something to redo; `restore` does not.',
	examples: ['redo', 'redo api --yes'],
	flags: RESTORE_FLAGS,
	positional: [SESSION_ARGUMENT],
	run: (invocation, given) => restoreBy(invocation, given, 'redo', { redo: true }),
};
