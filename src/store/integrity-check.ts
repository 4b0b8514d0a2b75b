import type { Database } from './driver.ts';
import { VERSIONED_TABLES, type VersionedTable } from './schema.ts';
import type { TreeParts } from './tree-parts.ts';

/** A check's name and what holds when it finds nothing. */
export interface CheckMeaning {
	/** Stable: `area.claim`. */
	readonly name: string;
	readonly what: string;
	/** What it finds are leftovers that no reader sees. */
	readonly harmless?: true;
}

/** One thing that is wrong. */
export interface Finding {
	readonly check: string;
	readonly message: string;
}

/** Checks that are done in one go over the file. */
export interface CheckGroup {
	readonly checks: readonly CheckMeaning[];
	/** When it finds something, the checks after it can't trust the file. */
	readonly gate?: true;
	/** What is wrong. Reads only; ends on any content. */
	find(db: Database): Iterable<Finding>;
	/** Removes what it finds; how many rows. */
	repair?(store: Pick<TreeParts, 'db' | 'write'>): number;
}

/** A check that is one query: each row is one message. Parameters: none. */
export function queryCheck(name: string, what: string, sql: string): CheckGroup {
	return {
		checks: [{ name, what }],
		*find(db) {
			// One more than are counted: a made-up file may have more wrong rows than fit into memory.
			const messages = db.prepare<string>(`select * from (${sql}) limit 10001`, 'value').all();
			for (const message of messages) yield { check: name, message };
		},
	};
}

/** All versions of a table's rows, as a subquery: `died` is null in those of the present. */
export function versionsOf(name: VersionedTable['name']): string {
	const columns = VERSIONED_TABLES.find((table) => table.name === name)
		?.columns.map((column) => column.name)
		.join(', ');
	return `(select ${columns}, null as died from ${name} union all select ${columns}, died from ${name}_past)`;
}
