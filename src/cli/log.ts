import { printable } from '../base/printable.ts';
import { snapshotsBackFrom } from '../history/log.ts';
import { SESSION_ARGUMENT, withSession } from './choose.ts';
import type { CommandDefinition } from './command.ts';
import { table } from './format.ts';
import { SNAPSHOT_HEADER, snapshotJson, snapshotRow } from './snapshot-text.ts';

/** History from the position back to the first snapshot. */
export const log: CommandDefinition<object, [string?]> = {
	brief: 'Show the history of the present, newest first',
	details: 'Walks from the position through parents. What lies on other branches is in `list`.',
	examples: ['log', 'log api --json'],
	flags: {},
	positional: [SESSION_ARGUMENT],
	run: (invocation, given) =>
		withSession(invocation, given, ({ id, store }) =>
			store.read(() => {
				const position = store.head.values().position;
				const snapshots = snapshotsBackFrom(store.snapshots, position);
				return {
					json: { sessionId: id, position, snapshots: snapshots.map((snapshot) => snapshotJson(snapshot, position)) },
					text: table([
						SNAPSHOT_HEADER,
						...snapshots.map((snapshot) => snapshotRow(snapshot, position).map(printable)),
					]),
				};
			}),
		),
};
