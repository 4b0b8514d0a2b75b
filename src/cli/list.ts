import { printable } from '../base/printable.ts';
import type { Snapshot } from '../store/snapshots.ts';
import { SESSION_ARGUMENT, withSession } from './choose.ts';
import type { Answer, CommandDefinition } from './command.ts';
import { table } from './format.ts';
import { SNAPSHOT_HEADER, snapshotJson, snapshotRow } from './snapshot-text.ts';

/** Every snapshot of a session. */
export const list: CommandDefinition<object, [string?]> = {
	brief: 'List every snapshot of a session, the current one marked',
	details:
		'The mark * is on the position: the snapshot that the present grew from. One taken while something was writing says so (mid-operation). TRIGGER is why it was taken: at the start or the exit of a command; by itself when nothing was written for a while (quiet), or when writing went on for long (ceiling); on `checkpoint` (request) or `snap` (manual); by restore or apply. NOTE also has the labels of checkpoints.',
	examples: ['list', 'list api --json'],
	flags: {},
	positional: [SESSION_ARGUMENT],
	run: (invocation, given) =>
		withSession(invocation, given, ({ id, store }) =>
			store.read(() => listAnswer(id, store.snapshots.list(), store.head.values().position, store.snapshots.next())),
		),
};

function listAnswer(sessionId: string, snapshots: readonly Snapshot[], position: number, head: number): Answer {
	return {
		json: { sessionId, head, snapshots: snapshots.map((snapshot) => snapshotJson(snapshot, position)) },
		text: table([SNAPSHOT_HEADER, ...snapshots.map((snapshot) => snapshotRow(snapshot, position).map(printable))]),
	};
}
