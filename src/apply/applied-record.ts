import type { Inode, Time } from '../base/inode.ts';
import type { Store } from '../store/store.ts';

/** How far an apply is. `undoing` goes back to `undone` as `writing` goes on to `done`; both may be cut short. */
export type ApplyState = 'writing' | 'done' | 'undoing' | 'undone' | 'aborted';

/** Number of an apply that had nothing to write, and of which the table holds no row. */
export const NO_RECORD = 0;

/** One path of the host that an apply writes. */
export interface AppliedPath {
	readonly path: string;
	/** Whether anything was there before; it is kept under the saved root. */
	readonly wasThere: boolean;
	/** What is there after; null when the path is removed. */
	readonly after: Inode | null;
	/** Where a file's new bytes are: in the applied snapshot, under the saved root, or those that it had before. */
	readonly bytes: 'ours' | 'merged' | 'kept' | null;
	/** Names with the same one are one inode after. */
	readonly link: string | null;
}

/** One tree of an apply. */
export interface AppliedTree {
	/** Inode number of the session's root. */
	readonly root: number;
	readonly paths: readonly AppliedPath[];
	/** Directories that are not written themselves but in which names come and go: their times are put back by an abort. */
	readonly around: readonly string[];
	/** Paths at which the session reads the host afterwards. */
	readonly settled: readonly string[];
}

/** An apply as the table `applied` holds it: all that is needed to finish it, or to take it back. */
export interface AppliedRecord {
	readonly id: number;
	readonly created: Time;
	readonly state: ApplyState;
	readonly snapshot: number;
	/** Root of what was overwritten: `before/<root>/<path>`, and `merged/<root>/<path>`. */
	readonly saved: number;
	/** See HostTree.apply. */
	readonly token: string;
	/** Whether the applied snapshot was the session's present. */
	readonly wasPresent: boolean;
	readonly trees: readonly AppliedTree[];
	/** Directories that were opened up to be worked in, and the modes that they are to get back. */
	readonly unlocked: readonly { readonly root: number; readonly path: string; readonly mode: number }[];
}

/** The apply that was cut short, or null. There is at most one: none is begun while there is. */
export function interruptedApply(store: Store): AppliedRecord | null {
	return firstRecord(store, "state in ('writing', 'undoing')");
}

/** The newest apply that is done and not undone, or null. */
export function lastApply(store: Store): AppliedRecord | null {
	return firstRecord(store, "state = 'done'");
}

/** Every apply, the newest first. */
export function listApplies(store: Store): AppliedRecord[] {
	return store.db.prepare<AppliedRow>('select * from applied order by id desc').all().map(recordOf);
}

/** Notes an apply that is about to be written, and gives its number. Called inside Store.write. */
export function insertApply(store: Store, record: Omit<AppliedRecord, 'id'>): number {
	const { created, state, snapshot, saved } = record;
	const { lastInsertRowid } = store.db
		.prepare('insert into applied(created, created_ns, state, snapshot, saved, paths) values(?, ?, ?, ?, ?, ?)')
		.run(created.sec, created.nsec, state, snapshot, saved, detailsOf(record));
	return Number(lastInsertRowid);
}

/** Moves an apply to another state. Called inside Store.write. */
export function setApplyState(store: Store, id: number, state: ApplyState): void {
	store.db.prepare('update applied set state = ? where id = ?').run(state, id);
}

/** Notes a directory that is about to be opened up; on disk when this returns. */
export function noteUnlocked(store: Store, id: number, root: number, path: string, mode: number): void {
	store.write(() => {
		const record = firstRecord(store, `id = ${id}`);
		if (record === null) throw new Error(`there is no apply ${id}`);
		const unlocked = [...record.unlocked, { root, path, mode }];
		store.db.prepare('update applied set paths = ? where id = ?').run(detailsOf({ ...record, unlocked }), id);
	});
	store.durable();
}

/** An inode without what the host's own has beside it, such as its number. */
export function plainInode(inode: Inode): Inode {
	const { kind, mode, uid, gid, size, rdev, atime, mtime, ctime, target, opaque, xattrs } = inode;
	return { kind, mode, uid, gid, size, rdev, atime, mtime, ctime, target, opaque, xattrs };
}

interface AppliedRow {
	readonly id: number;
	readonly created: number;
	readonly created_ns: number;
	readonly state: ApplyState;
	readonly snapshot: number;
	readonly saved: number;
	readonly paths: string;
}

type Details = Pick<AppliedRecord, 'token' | 'wasPresent' | 'trees' | 'unlocked'>;

function firstRecord(store: Store, condition: string): AppliedRecord | null {
	const row = store.db.prepare<AppliedRow>(`select * from applied where ${condition} order by id desc limit 1`).get();
	return row === undefined ? null : recordOf(row);
}

function recordOf(row: AppliedRow): AppliedRecord {
	const { id, state, snapshot, saved } = row;
	const details = JSON.parse(row.paths, revive) as Details;
	return { id, created: { sec: row.created, nsec: row.created_ns }, state, snapshot, saved, ...details };
}

/** Lone surrogates, which stand for bytes of names, go through JSON as escapes. */
function detailsOf({ token, wasPresent, trees, unlocked }: Details): string {
	return JSON.stringify({ token, wasPresent, trees, unlocked }, (key, value: unknown) =>
		key === 'xattrs' ? [...(value as Inode['xattrs'])].map(([name, bytes]) => [name, bytes.toString('base64')]) : value,
	);
}

function revive(key: string, value: unknown): unknown {
	if (key !== 'xattrs') return value;
	return new Map((value as [string, string][]).map(([name, bytes]) => [name, Buffer.from(bytes, 'base64')]));
}
