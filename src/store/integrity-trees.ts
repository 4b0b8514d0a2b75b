import type { Database } from './driver.ts';
import type { CheckGroup, Finding } from './integrity-check.ts';
import { IntegrityState, STATE_CHECKS } from './integrity-state.ts';
import { RowStream } from './row-stream.ts';

/**
 * Whether the state of every snapshot, and the present, is a tree. Goes through history once, from the oldest snapshot to
 * the present, and keeps one state in memory: at each only what changed since the last is looked at, so that the work grows
 * with the rows and not with snapshots times files.
 */
export const TREE_CHECKS: readonly CheckGroup[] = [
	{
		checks: STATE_CHECKS.map(({ name, what }) => ({ name, what })),
		*find(db) {
			const events = openEvents(db);
			try {
				yield* walkHistory(db, events);
			} finally {
				for (const { stream } of events) stream.close();
			}
		},
	},
];

function* walkHistory(db: Database, events: readonly Event[]): Generator<Finding> {
	const present = db.prepare<number>('select head from head', 'value').get() ?? 0;
	const state = new IntegrityState(db.prepare<number>('select ino from root', 'value').all());
	for (;;) {
		const times = events.flatMap(({ stream }) => stream.at() ?? []);
		if (times.length === 0) return;
		const at = Math.min(...times);
		for (const { stream, take } of events) for (const row of stream.upTo(at)) take(state, row);
		const where = at === present ? 'the present' : `snapshot ${at}`;
		for (const ino of state.touched) {
			for (const { name, problem } of STATE_CHECKS) {
				const text = problem(state, ino);
				if (text !== null) yield { check: name, message: `inode ${ino} ${text}, in ${where}` };
			}
		}
		state.settle();
	}
}

type EventRow = readonly [at: number, ...numbers: number[]];

/** Rows that begin or cease to hold, and what that does to the state. */
interface Event {
	readonly stream: RowStream<EventRow>;
	readonly take: (state: IntegrityState, row: EventRow) => void;
}

/** Ends come before beginnings: a row that takes another's place has the same key. */
function openEvents(db: Database): Event[] {
	const event = (name: string, query: string, take: Event['take']): Event => ({
		stream: new RowStream<EventRow>(db, `integrity_${name}`, query),
		take,
	});
	return [
		event('entry_ends', endsOf('entry', 'parent, ino'), (state, [, parent = 0, ino = 0]) =>
			state.removeEntry(parent, ino),
		),
		event('inode_ends', endsOf('inode', 'ino'), (state, [, ino = 0]) => state.removeInode(ino)),
		event('chunk_ends', endsOf('chunk', 'ino, idx'), (state, [, ino = 0, idx = 0]) => state.removeChunk(ino, idx)),
		event('xattr_ends', endsOf('xattr', 'ino'), (state, [, ino = 0]) => state.removeXattr(ino)),
		event(
			'inode_begins',
			beginningsOf('inode', 'ino, root, mode, nlink, size, chunk_bytes'),
			(state, [, ino = 0, root = 0, mode = 0, nlink = 0, size = 0, chunkBytes = 0]) =>
				state.addInode(ino, { root, mode, nlink, size, chunkBytes }),
		),
		event('entry_begins', beginningsOf('entry', 'parent, ino'), (state, [, parent = 0, ino = 0]) =>
			state.addEntry(parent, ino),
		),
		event('chunk_begins', beginningsOf('chunk', 'ino, idx'), (state, [, ino = 0, idx = 0]) => state.addChunk(ino, idx)),
		event('xattr_begins', beginningsOf('xattr', 'ino'), (state, [, ino = 0]) => state.addXattr(ino)),
	];
}

/** The first snapshot with at least the number in this column; the present, as the head's number, when there is none. */
function reached(column: string): string {
	return `coalesce((select min(id) from snapshot where id>=${column}), (select head from head))`;
}

const HELD = 'exists(select 1 from snapshot where id>=born and id<died)';

/** Past rows that no snapshot holds are in no state. */
function beginningsOf(table: string, columns: string): string {
	return (
		`select ${reached('born')} as at, ${columns} from ${table} union all ` +
		`select ${reached('born')} as at, ${columns} from ${table}_past where ${HELD}`
	);
}

function endsOf(table: string, columns: string): string {
	return `select ${reached('died')} as at, ${columns} from ${table}_past where ${HELD}`;
}
