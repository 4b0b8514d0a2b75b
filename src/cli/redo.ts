import { previewRedo, redoSession } from '../session/restore-session.ts';
import { SESSION_ARGUMENT, withOwnedSession } from './choose.ts';
import type { CommandDefinition } from './command.ts';
import { confirm } from './confirm.ts';
import { count } from './format.ts';
import { changedPaths, RESTORE_FLAGS, type RestoreFlags, restoreAnswer, restoreScope } from './restore-options.ts';
import { nothingToDo } from './undo.ts';

/** Takes an undo back. */
export const redo: CommandDefinition<RestoreFlags, [string?]> = {
	brief: 'Take the last undo back, as long as nothing new was done since',
	examples: ['redo', 'redo api --yes'],
	flags: RESTORE_FLAGS,
	positional: [SESSION_ARGUMENT],
	run: (invocation, given) =>
		withOwnedSession(invocation, given, async (session) => {
			const { cli, flags } = invocation;
			const scope = restoreScope(flags, session, cli.cwd);
			const preview = previewRedo(session, scope);
			if (preview === null) return nothingToDo(session.id, 'redo');
			if (flags.dryRun) return restoreAnswer(session, { ...preview, present: null }, true);
			const { target, changes } = preview;
			await confirm(
				cli,
				flags.yes,
				`Redo to snapshot ${target} of session ${session.id}, changing ${count(changedPaths(changes), 'path')}`,
			);
			const outcome = redoSession(session, scope);
			return outcome === null ? nothingToDo(session.id, 'redo') : restoreAnswer(session, outcome, false);
		}),
};
