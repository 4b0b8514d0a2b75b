import type { Time } from '../base/inode.ts';
import { Refusal } from '../base/refusal.ts';
import type { Database } from './driver.ts';
import type { Head } from './head.ts';

/** What made a snapshot be taken. */
export type SnapshotTrigger =
	| 'start'
	| 'quiet'
	| 'ceiling'
	| 'request'
	| 'manual'
	| 'exit'
	| 'restore'
	| 'apply'
	| 'adopt'
	| 'branch';

/** An immutable point of history. */
export interface Snapshot {
	/** From 1, never used again. */
	readonly id: number;
	/** The snapshot that it grew from; null for the first. */
	readonly parent: number | null;
	readonly tag: string | null;
	readonly trigger: SnapshotTrigger;
	/** False when something was still writing. */
	readonly atRest: boolean;
	readonly created: Time;
	/** The run that was going on. */
	readonly run: number | null;
	readonly note: string | null;
	/** Inodes of the layer, roots aside. */
	readonly files: number;
	/** Sizes of its regular files, added up. */
	readonly bytes: number;
}

/** What the taker of a snapshot knows about it. */
export interface SnapshotMeta {
	readonly trigger: SnapshotTrigger;
	readonly created: Time;
	readonly tag?: string | null;
	/** True unless said. */
	readonly atRest?: boolean;
	readonly run?: number | null;
	readonly note?: string | null;
}

/** The snapshots of a session. Tree.snapshot takes one; gc alone removes any. */
export class Snapshots {
	readonly #db: Database;
	readonly #head: Head;

	constructor(db: Database, head: Head) {
		this.#db = db;
		this.#head = head;
	}

	/** All, the oldest first. */
	list(): Snapshot[] {
		return this.#db.prepare<SnapshotRow>(`${SELECT} order by id`).all().map(toSnapshot);
	}

	/** The snapshot of this number, or null. */
	get(id: number): Snapshot | null {
		return this.#one(this.#db.prepare<SnapshotRow>(`${SELECT} where id = ?`).get(id));
	}

	/** The snapshot of this tag, or null. */
	byTag(tag: string): Snapshot | null {
		return this.#one(this.#db.prepare<SnapshotRow>(`${SELECT} where tag = ?`).get(tag));
	}

	/** The newest, or null. */
	last(): Snapshot | null {
		return this.#one(this.#db.prepare<SnapshotRow>(`${SELECT} order by id desc limit 1`).get());
	}

	/** The number that the next one will have. */
	next(): number {
		return this.#head.values().head;
	}

	/** A snapshot and those that it grew from, itself first; parents that gc removed are passed over. */
	chain(id: number): Snapshot[] {
		const ids = this.#db.prepare<number>(CHAIN, 'value').all(id);
		return ids.flatMap((member) => this.get(member) ?? []);
	}

	/**
	 * Gives a snapshot its tag, or takes it away (null). Called inside Store.write.
	 * Throws Refusal `failed` when there is no such snapshot, or the tag is another's and `force` is false.
	 */
	retag(id: number, tag: string | null, force = false): void {
		if (this.get(id) === null) throw noSuchSnapshot(id);
		const owner = tag === null ? null : this.byTag(tag);
		if (owner !== null && owner.id !== id) {
			if (!force) throw tagTaken(tag as string, owner.id);
			this.#setTag(owner.id, null);
		}
		this.#setTag(id, tag);
	}

	/** Inserts the row of a new one. Called by Tree.snapshot alone. */
	insert(id: number, parent: number | null, meta: SnapshotMeta, totals: { files: number; bytes: number }): void {
		const { trigger, created, tag = null, atRest = true, run = null, note = null } = meta;
		const owner = tag === null ? null : this.byTag(tag);
		if (owner !== null) throw tagTaken(tag as string, owner.id);
		this.#db
			.prepare(`insert into snapshot(${COLUMNS}) values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
			.run(id, parent, tag, trigger, atRest ? 1 : 0, created.sec, created.nsec, run, note, totals.files, totals.bytes);
	}

	#setTag(id: number, tag: string | null): void {
		this.#db.prepare('update snapshot set tag = ? where id = ?').run(tag, id);
	}

	#one(row: SnapshotRow | undefined): Snapshot | null {
		return row === undefined ? null : toSnapshot(row);
	}
}

/** There is no snapshot of this number. */
export function noSuchSnapshot(id: number): Refusal {
	return new Refusal('failed', 'no-such-snapshot', `no such snapshot: ${id}`, {
		hint: '`dropcloth list` shows those there are',
	});
}

function tagTaken(tag: string, id: number): Refusal {
	return new Refusal('failed', 'tag-taken', `tag ${tag} is snapshot ${id}'s`, { hint: 'move it with --force' });
}

interface SnapshotRow {
	id: number;
	parent: number | null;
	tag: string | null;
	trigger: SnapshotTrigger;
	at_rest: number;
	created: number;
	created_ns: number;
	run: number | null;
	note: string | null;
	files: number;
	bytes: number;
}

const COLUMNS = 'id, parent, tag, trigger, at_rest, created, created_ns, run, note, files, bytes';
const SELECT = `select ${COLUMNS} from snapshot`;
/** gc lets the children of a removed snapshot inherit its parent, so that a chain never breaks. */
const CHAIN = `with recursive ancestor(id) as (select ? union
	select snapshot.parent from ancestor join snapshot using(id) where snapshot.parent is not null)
	select id from ancestor`;

function toSnapshot(row: SnapshotRow): Snapshot {
	return {
		id: row.id,
		parent: row.parent,
		tag: row.tag,
		trigger: row.trigger,
		atRest: row.at_rest === 1,
		created: { sec: row.created, nsec: row.created_ns },
		run: row.run,
		note: row.note,
		files: row.files,
		bytes: row.bytes,
	};
}
