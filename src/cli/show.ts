import { isoTime } from '../base/clock.ts';
import { printable } from '../base/printable.ts';
import { Refusal } from '../base/refusal.ts';
import { type DiffEntry, diffViews } from '../history/diff.ts';
import type { Point } from '../history/refs.ts';
import { readSnapshots } from '../session/read-snapshots.ts';
import type { Session } from '../session/session.ts';
import { SessionViews } from '../session/session-views.ts';
import { type Run, Runs } from '../store/runs.ts';
import type { Snapshot } from '../store/snapshots.ts';
import { SESSION_BRIEF, withSession } from './choose.ts';
import type { Answer, CommandDefinition } from './command.ts';
import { sizeText, table, timeText } from './format.ts';
import { snapshotJson } from './snapshot-text.ts';

/** One snapshot in full. */
export const show: CommandDefinition<object, [string, string]> = {
	brief: 'Show one snapshot in full: when and why it was taken, the run it belongs to, what changed in it',
	examples: ['show api 3', 'show api before-upgrade --json'],
	flags: {},
	positional: [
		{ parse: String, brief: SESSION_BRIEF, placeholder: 'SESSION' },
		{
			parse: String,
			brief: 'A snapshot: its number, its tag, or @~2 for the second before the present',
			placeholder: 'REF',
		},
	],
	run: (invocation, given, ref) =>
		withSession(invocation, given, (session) =>
			readSnapshots(session, [ref], ([point]) => showSnapshot(session, ref, point)),
		),
};

function showSnapshot(session: Session, ref: string, point: Point): Answer {
	const { store } = session;
	const snapshot = typeof point === 'number' ? store.snapshots.get(point) : null;
	if (snapshot === null) {
		throw new Refusal('usage', 'not-a-snapshot', `${ref} is no snapshot`, {
			hint: 'name one by its number or tag; see `dropcloth list`',
		});
	}
	const run = snapshot.run === null ? null : new Runs(store).get(snapshot.run);
	const changes = changesIn(session, snapshot);
	const json = {
		sessionId: session.id,
		...snapshotJson(snapshot, store.head.values().position),
		runDetails: run === null ? null : runJson(run),
		changes,
	};
	return {
		json,
		text: [
			factsText(snapshot, run),
			...changes.map((entry) => `${entry.change.padEnd(9)} ${printable(entry.path)}`),
		].join('\n'),
	};
}

/** What the snapshot has that its parent had not. */
function changesIn(session: Session, { id, parent }: Snapshot): DiffEntry[] {
	const views = new SessionViews(session.store);
	try {
		return session.workRoots().flatMap((root) => {
			const { from, to, candidates } = views.compare(root, parent ?? 0, id);
			return diffViews(from, to, candidates, { hashes: false });
		});
	} finally {
		views.close();
	}
}

function factsText(
	{ id, parent, tag, trigger, atRest, created, note, files, bytes }: Snapshot,
	run: Run | null,
): string {
	const facts = [
		['snapshot', String(id)],
		['parent', parent === null ? '-' : String(parent)],
		['taken', `${timeText(created)}, ${trigger}${atRest ? '' : ', mid-operation: something was still writing'}`],
		['layer', `${files} files, ${sizeText(bytes)}`],
		...(tag === null ? [] : [['tag', tag]]),
		...(note === null ? [] : [['note', note]]),
		...(run === null ? [] : [['run', `${run.id}: ${run.argv.join(' ')}`]]),
	];
	return `${table(facts.map((row) => row.map(printable)))}\n`;
}

function runJson({ id, argv, cwd, started, ended, exit, signal, backend }: Run): Record<string, unknown> {
	return {
		id,
		argv,
		cwd,
		started: isoTime(started),
		ended: ended === null ? null : isoTime(ended),
		exit,
		signal,
		backend,
	};
}
