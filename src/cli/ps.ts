import { printable } from '../base/printable.ts';
import { Refusal } from '../base/refusal.ts';
import type { OwnerFacts } from '../session/owner-file.ts';
import { placeInStore, sessionIds } from '../session/session-place.ts';
import { type SessionStatus, sessionStatus } from '../session/session-status.ts';
import type { CommandDefinition } from './command.ts';
import { sizeText, table } from './format.ts';
import { insideRefusal, isStoreHidden } from './inside.ts';

/** A row of `ps`: a session, or why it cannot be read. */
type Row = SessionStatus | { readonly sessionId: string; readonly problem: string };

/** Every session of the store. */
export const ps: CommandDefinition<object, []> = {
	brief: 'List the sessions of the store and what runs in them',
	examples: ['ps', 'ps --json'],
	flags: {},
	positional: [],
	run({ cli, storePath }) {
		if (isStoreHidden(cli.env, storePath)) throw insideRefusal(cli.env);
		const rows = sessionIds(storePath).map((id) => lookAt(storePath, id));
		return { json: rows.map(jsonOf), text: rows.length === 0 ? 'no sessions' : table([HEADER, ...rows.map(rowOf)]) };
	},
};

const HEADER = ['SESSION', 'STATE', 'POSITION', 'LAYER', 'BASE', 'COMMAND'];

/** One damaged session must not hide the others. */
function lookAt(storePath: string, id: string): Row {
	try {
		return sessionStatus(placeInStore(storePath, id));
	} catch (error) {
		if (error instanceof Refusal) return { sessionId: id, problem: error.message };
		throw error;
	}
}

function jsonOf(row: Row): Record<string, unknown> {
	if ('problem' in row)
		return { sessionId: row.sessionId, pid: null, state: 'invalid', problem: row.problem, mounts: [] };
	const { sessionId, state, owner, basePath } = row;
	const { pid = null, backend = null, started = null, argv = null, joined = [] } = owner ?? {};
	return { sessionId, pid, state, backend, mounts: [], started, argv, joined, basePath };
}

function rowOf(row: Row): string[] {
	if ('problem' in row) return [row.sessionId, 'invalid', '', '', '', row.problem].map(printable);
	const { sessionId, state, position, layerBytes, basePath, owner } = row;
	return [sessionId, state, String(position), sizeText(layerBytes), basePath ?? '-', commands(owner)].map(printable);
}

/** The command of a run, and those that have joined it; an owner of an older version knows of none. */
function commands(owner: OwnerFacts | null): string {
	if (owner === null) return '';
	return [owner, ...(owner.joined ?? [])].map(({ argv }) => argv.join(' ')).join(' + ');
}
