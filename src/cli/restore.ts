import { Refusal } from '../base/refusal.ts';
import { resolveRef } from '../history/refs.ts';
import { previewRestore, restoreSession } from '../session/restore-session.ts';
import { withOwnedSession } from './choose.ts';
import type { CommandDefinition } from './command.ts';
import { confirm } from './confirm.ts';
import { count } from './format.ts';
import { changedPaths, RESTORE_FLAGS, type RestoreFlags, restoreAnswer, restoreScope } from './restore-options.ts';

/** Puts a session back to a snapshot. */
export const restore: CommandDefinition<RestoreFlags, [string, string]> = {
	brief: 'Put a session back to a snapshot; the state it leaves stays in history',
	details:
		'What is there now becomes a snapshot first when it is in none, so nothing is lost. With --path, only those paths.',
	examples: ['restore api 3', 'restore api before-upgrade --yes', 'restore api @~2 --path src --dry-run'],
	flags: RESTORE_FLAGS,
	positional: [
		{ parse: String, brief: 'The session', placeholder: 'SESSION' },
		{ parse: String, brief: 'A snapshot: a number, a tag, or @~2', placeholder: 'REF' },
	],
	run: (invocation, given, ref) =>
		withOwnedSession(invocation, given, async (session) => {
			const { cli, flags } = invocation;
			const target = resolveRef(session.store, ref);
			if (typeof target !== 'number') {
				throw new Refusal('usage', 'not-a-snapshot', `${ref} is no snapshot`, {
					hint: 'name one by its number or tag; see `dropcloth list`',
				});
			}
			const scope = restoreScope(flags, session, cli.cwd);
			const changes = previewRestore(session, target, scope);
			if (flags.dryRun) return restoreAnswer(session, { target, present: null, changes }, true);
			await confirm(
				cli,
				flags.yes,
				`Restore snapshot ${target} of session ${session.id}, changing ${count(changedPaths(changes), 'path')}`,
			);
			return restoreAnswer(session, restoreSession(session, target, scope), false);
		}),
};
