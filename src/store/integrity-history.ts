import { type CheckGroup, queryCheck, versionsOf } from './integrity-check.ts';
import { VERSIONED_TABLES, type VersionedTable } from './schema.ts';

const TRIGGERS = "'start','quiet','ceiling','request','manual','exit','restore','apply','adopt','branch'";
const HEAD = '(select head from head)';

/** Claims about snapshots, the head, the roots and the intervals of versions. */
export const HISTORY_CHECKS: readonly CheckGroup[] = [
	queryCheck(
		'head.row',
		'there is one head, and its position is a snapshot',
		`select 'there are '||count(*)||' rows' from head having count(*)<>1
		union all select 'head '||head||', position '||position||' is not valid' from head
		where head<1 or next_ino<1 or changed not in (0, 1) or sealing<>0
		or position<>0 and position not in (select id from snapshot)`,
	),
	queryCheck(
		'head.ahead',
		'the head is above every snapshot and not below any version',
		[
			`select 'snapshot '||id||' is not below the head' from snapshot where id>=${HEAD} or id<1`,
			...VERSIONED_TABLES.flatMap(({ name }) => [
				`select '${name} '||${keyText(name)}||' is born at '||born from ${name} where born>${HEAD} or born<1`,
				`select '${name} '||${keyText(name)}||' died at '||died from ${name}_past where died>${HEAD} or born<1`,
			]),
		].join(' union all '),
	),
	queryCheck(
		'head.next_ino',
		'the next inode number was never used',
		`select 'inode '||max(ino)||' exists already' from ${versionsOf('inode')} having max(ino)>=(select next_ino from head)`,
	),
	queryCheck(
		'snapshot.values',
		'snapshots have a known trigger, a time, and a tag that is no number or ref',
		`select 'snapshot '||id||' is not valid' from snapshot
		where trigger not in (${TRIGGERS}) or at_rest not in (0, 1) or created_ns not between 0 and 999999999
		or tag='' or tag='base' or tag not glob '*[^0-9]*' or tag glob '*[@~]*'`,
	),
	queryCheck(
		'snapshot.parent',
		'a snapshot grew from an older one that exists',
		`select 'snapshot '||id||' has parent '||parent from snapshot
		where parent>=id or parent not in (select id from snapshot)`,
	),
	queryCheck(
		'root.directory',
		'every root is a directory of its own tree, and its role is its own',
		`select 'root '||ino||' is not valid' from root
		where role not in ('project','home','gitdir','saved') or typeof(base_path) not in ('null','text','blob')
		or not exists(select 1 from inode where inode.ino=root.ino and inode.root=root.ino and mode & 61440=16384)
		or role<>'saved' and exists(select 1 from root as other where other.role=root.role and other.ino<root.ino)`,
	),
	queryCheck(
		'inode.root',
		'an inode is in the tree of one root for ever',
		`select 'inode '||ino||' has a root that is none or changes' from (select ino, root from ${versionsOf('inode')})
		group by ino having min(root)<>max(root) or min(root) not in (select ino from root)`,
	),
	queryCheck(
		'history.intervals',
		'versions of one row do not overlap',
		VERSIONED_TABLES.map(overlaps).join(' union all '),
	),
];

function keyText(name: VersionedTable['name']): string {
	return name === 'entry' ? "'in '||parent" : 'ino';
}

/** Past versions against the one before, in the order of the key; and the present one against the past. */
function overlaps({ name, key }: VersionedTable): string {
	const columns = key.join(', ');
	const same = key.map((column) => `past.${column}=live.${column}`).join(' and ');
	const message = `select '${name} '||${keyText(name)}||' has two versions at '||born`;
	return (
		`${message} from (select *, lag(died) over (partition by ${columns} order by died) as before from ${name}_past)` +
		` where born<before or born>=died union all ` +
		`${message} from ${name} as live where exists(select 1 from ${name}_past as past where ${same} and past.died>live.born)`
	);
}
