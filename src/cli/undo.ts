import { SESSION_ARGUMENT } from './choose.ts';
import type { CommandDefinition } from './command.ts';
import { RESTORE_FLAGS, type RestoreFlags, restoreBy } from './restore-options.ts';

/** Steps back through history. */
export const undo: CommandDefinition<RestoreFlags, [string?, number?]> = {
	brief: 'Step back to the state before, or N states back',
	details:
		'Goes from snapshot to parent, as `log` shows them, and with N no further than to the first. A restore is not taken back by it: restore the snapshot where you were, which `list` shows. States that are equal to the present are stepped over. `redo` steps forward again until something new is done.',
	examples: ['undo', 'undo api 2 --yes', 'undo api --path src/main.c'],
	flags: RESTORE_FLAGS,
	positional: [
		SESSION_ARGUMENT,
		{ parse: parseSteps, brief: 'How many states back', placeholder: 'N', optional: true },
	],
	run: (invocation, given, steps = 1) => restoreBy(invocation, given, 'undo', { undo: steps }),
};

function parseSteps(text: string): number {
	if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
	throw new Error(`${text} is not a number of states from 1 up`);
}
