import type { Time } from '../base/inode.ts';
import type { Statement } from './driver.ts';
import { fromSqlName, type SqlName, toSqlName } from './sql-name.ts';
import type { TreeParts } from './tree-parts.ts';

/** What is known of a run when it starts. */
export interface RunStart {
	/** The command line, byte for byte (base/bytes.ts). */
	readonly argv: readonly string[];
	/** Absolute working directory inside the session. */
	readonly cwd: string;
	/** Which agent it is, such as `claude`; null when not known. */
	readonly agent: string | null;
	readonly backend: 'kernel' | 'fuse';
	readonly started: Time;
}

/** How a run ended: with an exit code or by a signal, the other null. */
export interface RunEnd {
	readonly ended: Time;
	readonly exit: number | null;
	readonly signal: number | null;
}

/** A command that was run in the session. */
export interface Run extends RunStart {
	readonly id: number;
	/** Null while it runs, and for good when its end was not seen. */
	readonly ended: Time | null;
	readonly exit: number | null;
	readonly signal: number | null;
	/** The position when it started and when it ended; 0 is before the first snapshot. */
	readonly firstSnapshot: number;
	readonly lastSnapshot: number | null;
}

/**
 * The record of what was run. A log table: any process may write it, each call in one short IMMEDIATE transaction of its
 * own (or in the one that is open). Never rewound by restore or undo.
 */
export class Runs {
	readonly #store: Pick<TreeParts, 'db' | 'write'>;
	readonly #insert: Statement;
	readonly #finish: Statement;

	constructor(store: Pick<TreeParts, 'db' | 'write'>) {
		this.#store = store;
		this.#insert = store.db.prepare(
			'insert into run(argv, cwd, agent, started, started_ns, backend, first_snapshot)' +
				' values(?, ?, ?, ?, ?, ?, (select position from head))',
		);
		this.#finish = store.db.prepare(
			'update run set ended=?, ended_ns=?, exit=?, signal=?, last_snapshot=(select position from head)' +
				' where id=? and ended is null',
		);
	}

	/** Records that a run starts at the present position; its number. */
	start(run: RunStart): number {
		const { argv, cwd, agent, started, backend } = run;
		const values = [JSON.stringify(argv), toSqlName(cwd), agent, started.sec, started.nsec, backend];
		return this.#store.write(() => Number(this.#insert.run(...values).lastInsertRowid));
	}

	/** Records the end of a run that has none yet. */
	end(id: number, { ended, exit, signal }: RunEnd): void {
		const changed = this.#store.write(() => this.#finish.run(ended.sec, ended.nsec, exit, signal, id).changes);
		if (changed !== 1) throw new Error(`run ${id} does not exist or has ended already`);
	}

	/** One run, or null. */
	get(id: number): Run | null {
		const row = this.#store.db.prepare<RunRow>('select * from run where id=?').get(id);
		return row === undefined ? null : runOfRow(row);
	}

	/** Every run, oldest first. */
	list(): Run[] {
		return this.#store.db.prepare<RunRow>('select * from run order by id').all().map(runOfRow);
	}
}

interface RunRow {
	readonly id: number;
	readonly argv: string;
	readonly cwd: SqlName;
	readonly agent: string | null;
	readonly started: number;
	readonly started_ns: number;
	readonly ended: number | null;
	readonly ended_ns: number | null;
	readonly exit: number | null;
	readonly signal: number | null;
	readonly backend: 'kernel' | 'fuse';
	readonly first_snapshot: number;
	readonly last_snapshot: number | null;
}

function runOfRow(row: RunRow): Run {
	return {
		id: row.id,
		argv: JSON.parse(row.argv) as string[],
		cwd: fromSqlName(row.cwd),
		agent: row.agent,
		backend: row.backend,
		started: { sec: row.started, nsec: row.started_ns },
		ended: row.ended === null ? null : { sec: row.ended, nsec: row.ended_ns ?? 0 },
		exit: row.exit,
		signal: row.signal,
		firstSnapshot: row.first_snapshot,
		lastSnapshot: row.last_snapshot,
	};
}
