import type { SqlValue } from './driver.ts';
import { VERSIONED_TABLES, type VersionedTable } from './schema.ts';
import type { TreeParts } from './tree-parts.ts';

/** How many rows a restore wrote. */
export interface RestoredCount {
	readonly removed: number;
	readonly written: number;
}

/**
 * Makes the present equal to a snapshot, in two statements per table: rows born later that have no version at the snapshot
 * go, and versions that differ from the live row come back. The triggers make history of what was there, which is why
 * the caller has taken a snapshot: rows that belong to none are lost. Root directories never go.
 *
 * Only trees of the given roots are touched; the others stay as they are.
 */
export function restoreTree(parts: TreeParts, target: number, roots: readonly number[]): RestoredCount {
	const { db, head } = parts;
	const total = db.prepare<number>('select count(*) from root', 'value').get() ?? 0;
	const filter = roots.length === total ? null : roots;
	// Rows that hang on an inode go before it and come back before it: the filter asks the inode for its root.
	const tables = [...VERSIONED_TABLES].sort((a, b) => Number(a.name === 'inode') - Number(b.name === 'inode'));
	let removed = 0;
	for (const table of tables) removed += removeLater(parts, table, target, filter);
	let written = 0;
	for (const table of tables) written += bringBack(parts, table, target, filter);
	const [files, bytes] = db.prepare<[number, number]>(TOTALS, 'tuple').get() as [number, number];
	head.setTotals(files, bytes);
	head.moveTo(target);
	return { removed, written };
}

/** Inodes of the trees that a reader of the session sees, their root directories aside, and the bytes of their files. */
const TOTALS = `select coalesce(sum(ino<>root), 0), coalesce(sum(size) filter (where mode & 61440 = 32768), 0) from inode
	where root in (select ino from root where role<>'saved')`;

function removeLater({ db }: TreeParts, table: VersionedTable, target: number, roots: Filter): number {
	const { name, key } = table;
	const sameKey = key.map((column) => `p.${column} = ${name}.${column}`).join(' and ');
	const conditions = [
		`${name}.born > ?`,
		`coalesce((select p.born from ${name}_past p where ${sameKey} and p.died > ? order by p.died limit 1), ?) > ?`,
	];
	const parameters: SqlValue[] = [target, target, target + 1, target];
	if (name === 'inode') conditions.push('ino not in (select ino from root)');
	if (roots !== null) {
		conditions.push(rootCondition(table, name, roots.length));
		parameters.push(...rootParameters(table, roots));
	}
	return db.prepare(`delete from ${name} where ${conditions.join(' and ')}`).run(...parameters).changes;
}

function bringBack({ db, head }: TreeParts, table: VersionedTable, target: number, roots: Filter): number {
	const { name, key, columns } = table;
	const all = columns.map((column) => column.name);
	const values = all.filter((column) => column !== 'born' && !key.includes(column));
	const conditions = ['p.died > ?', 'p.born <= ?'];
	const parameters: SqlValue[] = [head.born, target, target];
	if (roots !== null) {
		conditions.push(rootCondition(table, 'p', roots.length));
		parameters.push(...rootParameters(table, roots));
	}
	const sql = `insert into ${name}(${all.join(', ')})
		select ${all.map((column) => (column === 'born' ? '?' : `p.${column}`)).join(', ')} from ${name}_past p
		where ${conditions.join(' and ')}
		on conflict do update set born = excluded.born, ${values.map((column) => `${column} = excluded.${column}`).join(', ')}
		where ${values.map((column) => `${name}.${column} is not excluded.${column}`).join(' or ')}`;
	return db.prepare(sql).run(...parameters).changes;
}

type Filter = readonly number[] | null;

/** An inode never leaves its root, so any version of it tells the root of everything that hangs on it. */
function rootCondition(table: VersionedTable, alias: string, count: number): string {
	const marks = Array.from({ length: count }, () => '?').join(', ');
	if (table.name === 'inode') return `${alias}.root in (${marks})`;
	const ino = `${alias}.${table.key[0]}`;
	return (
		`(exists (select 1 from inode i where i.ino = ${ino} and i.root in (${marks})) or ` +
		`exists (select 1 from inode_past i where i.ino = ${ino} and i.root in (${marks})))`
	);
}

function rootParameters(table: VersionedTable, roots: readonly number[]): SqlValue[] {
	return table.name === 'inode' ? [...roots] : [...roots, ...roots];
}
