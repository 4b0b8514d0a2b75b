import { previewUndo, undoSession } from '../session/restore-session.ts';
import { SESSION_ARGUMENT, withOwnedSession } from './choose.ts';
import type { CommandDefinition } from './command.ts';
import { confirm } from './confirm.ts';
import { count } from './format.ts';
import { changedPaths, RESTORE_FLAGS, type RestoreFlags, restoreAnswer, restoreScope } from './restore-options.ts';

/** Steps back through history. */
export const undo: CommandDefinition<RestoreFlags, [string?, number?]> = {
	brief: 'Step back to the state before, or N states back',
	details:
		'States that are equal to the present are stepped over. `redo` steps forward again until something new is done.',
	examples: ['undo', 'undo api 2 --yes', 'undo api --path src/main.c'],
	flags: RESTORE_FLAGS,
	positional: [
		SESSION_ARGUMENT,
		{ parse: parseSteps, brief: 'How many states back', placeholder: 'N', optional: true },
	],
	run: (invocation, given, steps = 1) =>
		withOwnedSession(invocation, given, async (session) => {
			const { cli, flags } = invocation;
			const scope = restoreScope(flags, session, cli.cwd);
			const preview = previewUndo(session, steps, scope);
			if (preview === null) return nothingToDo(session.id, 'undo');
			const { target, changes } = preview;
			if (flags.dryRun) return restoreAnswer(session, { ...preview, present: null }, true);
			await confirm(
				cli,
				flags.yes,
				`Undo to snapshot ${target} of session ${session.id}, changing ${count(changedPaths(changes), 'path')}`,
			);
			const outcome = undoSession(session, steps, scope);
			return outcome === null ? nothingToDo(session.id, 'undo') : restoreAnswer(session, outcome, false);
		}),
};

/** The answer when history holds no state to go to. */
export function nothingToDo(sessionId: string, verb: 'undo' | 'redo') {
	return {
		json: { sessionId, restored: null, present: null, changed: 0, paths: [], dryRun: false },
		text: `nothing to ${verb}`,
	};
}

function parseSteps(text: string): number {
	if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
	throw new Error(`${text} is not a number of states from 1 up`);
}
