import type { Database } from './driver.ts';
import type { TreeParts } from './tree-parts.ts';

/** Which snapshots go, and which must stay. */
export interface DropChoice {
	/** Snapshots to drop, as store/retention.ts or the user chose them. */
	readonly drop: readonly number[];
	/** Snapshots that stay whatever `drop` says. */
	readonly keep?: ReadonlySet<number>;
	/**
	 * Whether someone reads this snapshot. Asked once each, before anything is dropped. To leave no gap it should take the
	 * snapshot's lock exclusively and hold it until gc returns; a reader takes its lock before it looks for the snapshot.
	 */
	readonly isBeingRead?: (id: number) => boolean;
}

/** A snapshot that stays although it was to be dropped. */
export interface SparedSnapshot {
	readonly id: number;
	readonly why:
		| 'missing'
		| 'position'
		| 'tagged'
		| 'kept'
		| 'apply not finished'
		| 'apply can be undone'
		| 'being read';
}

/** Which of the snapshots named in `drop` go, and why the others stay. */
export function chooseSnapshots(
	db: Database,
	{ drop, keep = new Set(), isBeingRead = () => false }: DropChoice,
): { dropped: number[]; spared: SparedSnapshot[] } {
	const ids = (sql: string) => new Set(db.prepare<number>(sql, 'value').all());
	const existing = ids('select id from snapshot');
	const position = ids('select position from head');
	const tagged = ids('select id from snapshot where tag is not null');
	const applying = ids("select snapshot from applied where state in ('writing', 'undoing')");
	const undoable = ids("select snapshot from applied where state='done' order by id desc limit 1");
	const reason = (id: number): SparedSnapshot['why'] | null => {
		if (!existing.has(id)) return 'missing';
		if (position.has(id)) return 'position';
		if (tagged.has(id)) return 'tagged';
		if (keep.has(id)) return 'kept';
		if (applying.has(id)) return 'apply not finished';
		if (undoable.has(id)) return 'apply can be undone';
		return isBeingRead(id) ? 'being read' : null;
	};
	const dropped: number[] = [];
	const spared: SparedSnapshot[] = [];
	for (const id of new Set(drop)) {
		const why = reason(id);
		if (why === null) dropped.push(id);
		else spared.push({ id, why });
	}
	return { dropped, spared };
}

/** Deletes the rows of snapshots; those that grew from one now grow from its nearest remaining ancestor. */
export function dropSnapshots(store: Pick<TreeParts, 'db' | 'write'>, dropped: readonly number[]): void {
	if (dropped.length === 0) return;
	const { db } = store;
	store.write(() => {
		const parents = new Map(db.prepare<[number, number | null]>('select id, parent from snapshot', 'tuple').all());
		const going = new Set(dropped);
		const reparent = db.prepare('update snapshot set parent=? where id=?');
		for (const [id, parent] of parents) {
			if (going.has(id) || parent === null || !going.has(parent)) continue;
			reparent.run(remainingAncestor(parent, parents, going), id);
		}
		const remove = db.prepare('delete from snapshot where id=?');
		for (const id of dropped) remove.run(id);
	});
}

/** A parent is older than its child; stopping where it is not keeps a damaged file from being walked for ever. */
function remainingAncestor(
	start: number,
	parents: ReadonlyMap<number, number | null>,
	going: ReadonlySet<number>,
): number | null {
	let id = start;
	while (going.has(id)) {
		const parent = parents.get(id) ?? null;
		if (parent === null || parent >= id) return null;
		id = parent;
	}
	return id;
}
