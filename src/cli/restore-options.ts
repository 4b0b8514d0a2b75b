import type { FlagParametersForType } from '@stricli/core';
import { printable } from '../base/printable.ts';
import { restoreAnywhere } from '../session/restore-anywhere.ts';
import type { RestoreAim, RestoreReport } from '../session/restore-request.ts';
import { chosenPlace } from './choose.ts';
import type { Answer, Invocation } from './command.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { count } from './format.ts';

/** Flags of every command that puts a session back to another state. */
export interface RestoreFlags {
	readonly path?: readonly string[];
	readonly home: boolean;
	readonly dryRun: boolean;
	readonly yes: boolean;
}

export const RESTORE_FLAGS: FlagParametersForType<RestoreFlags, CliContext> = {
	path: {
		kind: 'parsed',
		parse: String,
		brief: 'Only this path, below the project; may be repeated',
		optional: true,
		variadic: true,
		placeholder: 'PATH',
	},
	home: { kind: 'boolean', brief: 'The session’s home directory too', default: false, withNegated: false },
	dryRun: { kind: 'boolean', brief: 'Say what would change, and change nothing', default: false, withNegated: false },
	yes: { kind: 'boolean', brief: 'Do not ask', default: false, withNegated: false },
};

/** Does what restore, undo and redo have in common, which is all but where they go. `verb` begins the question. */
export async function restoreBy(
	invocation: Invocation<RestoreFlags>,
	given: string | undefined,
	verb: 'restore' | 'undo' | 'redo',
	aim: RestoreAim,
): Promise<Answer> {
	const { cli, flags } = invocation;
	const { path: paths = [], home, dryRun, yes } = flags;
	const place = chosenPlace(invocation, given);
	const ask = ({ target, paths: changed }: RestoreReport) =>
		confirm(
			cli,
			yes,
			`${QUESTION[verb]} snapshot ${target} of session ${place.id}, changing ${count(changed.length, 'path')}`,
		);
	const report = await restoreAnywhere(
		place,
		{ aim, paths, cwd: cli.cwd, home },
		{ dryRun, confirm: yes ? null : ask, notify: (text) => invocation.warn(text) },
	);
	if (report === null) {
		const json = { sessionId: place.id, restored: null, present: null, changed: 0, paths: [], kept: [], dryRun };
		return { json, text: `nothing to ${verb}` };
	}
	for (const path of report.kept) {
		invocation.warn(`${printable(path)} stays as it is: something that no snapshot holds lies there`);
	}
	return answer(place.id, report, dryRun);
}

const QUESTION = { restore: 'Restore', undo: 'Undo to', redo: 'Redo to' } as const;

/** What is said when it is done, or when it only would have been. */
function answer(sessionId: string, { target, present, paths, kept }: RestoreReport, dryRun: boolean): Answer {
	const verb = dryRun ? 'would restore' : 'restored';
	const held = present === null ? '' : `; what was there is snapshot ${present}`;
	const text = [
		`${verb} snapshot ${target} of session ${sessionId}: ${count(paths.length, 'path')} changed${held}`,
		...(dryRun ? paths.map((path) => `  ${printable(path === '' ? '.' : path)}`) : []),
	].join('\n');
	return { json: { sessionId, restored: target, present, changed: paths.length, paths, kept, dryRun }, text };
}
