import type { CheckGroup } from './integrity-check.ts';
import { PLAIN_TABLES, schemaStatements, VERSIONED_TABLES } from './schema.ts';

/**
 * Whether the file is one whose rows can be looked at. The schema comes first: in a file that somebody made up a table may
 * be a view that never ends, and a trigger may do anything when we write.
 */
export const FILE_CHECKS: readonly CheckGroup[] = [
	{
		checks: [{ name: 'schema.objects', what: 'tables, indexes and triggers are exactly those of this version' }],
		gate: true,
		*find(db) {
			const expected = new Map(
				schemaStatements()
					.filter(isDefinition)
					.map((sql) => [nameOf(sql), normal(sql)]),
			);
			const rows = db.prepare<[string, string, string]>(OBJECTS, 'tuple').all();
			for (const [type, name, sql] of rows) {
				const wanted = expected.get(name);
				expected.delete(name);
				if (wanted === normal(sql)) continue;
				const message = wanted === undefined ? `unknown ${type} ${name}` : `${type} ${name} is not as it must be`;
				yield { check: 'schema.objects', message };
			}
			for (const name of expected.keys()) yield { check: 'schema.objects', message: `${name} is missing` };
		},
	},
	{
		checks: [{ name: 'pragma.integrity_check', what: 'SQLite finds its pages, indexes, types and constraints sound' }],
		gate: true,
		*find(db) {
			for (const message of db.prepare<string>('pragma integrity_check(100)', 'value').all()) {
				if (message !== 'ok') yield { check: 'pragma.integrity_check', message };
			}
		},
	},
	{
		checks: [{ name: 'row.numbers', what: 'every number fits into 53 bits, as JavaScript needs it' }],
		gate: true,
		*find(db) {
			for (const [table, columns] of integerColumns()) {
				const beyond = columns.map((column) => `${column} not between -9007199254740991 and 9007199254740991`);
				const sql = `select count(*) from ${table} where ${beyond.join(' or ')}`;
				const count = db.prepare<number>(sql, 'value').get() ?? 0;
				if (count > 0) yield { check: 'row.numbers', message: `${count} rows of ${table} hold numbers beyond 2^53` };
			}
		},
	},
];

/** Names that begin with sqlite_ are SQLite's own; nobody else can make them. */
const OBJECTS =
	"select type, name, coalesce(sql, '') from sqlite_schema where name not like 'sqlite\\_%' escape '\\' order by name";

function isDefinition(sql: string): boolean {
	return sql.startsWith('create ');
}

function nameOf(sql: string): string {
	return /^create (?:unique )?\w+ (\w+)/.exec(sql)?.[1] ?? '';
}

/** SQLite keeps the text, but writes the first words anew. */
function normal(sql: string): string {
	return sql.replace(/^create (?:unique )?\w+ /i, (words) => words.toLowerCase());
}

function integerColumns(): [table: string, columns: string[]][] {
	const plain = PLAIN_TABLES.map(({ name, columns }) => ({ name, columns }));
	const past = VERSIONED_TABLES.map(({ name, columns }) => ({
		name: `${name}_past`,
		columns: [...columns, { name: 'died', type: 'integer' }],
	}));
	return [...plain, ...VERSIONED_TABLES, ...past]
		.map(({ name, columns }): [string, string[]] => [
			name,
			columns.filter(({ type }) => type.startsWith('integer')).map((column) => column.name),
		])
		.filter(([, columns]) => columns.length > 0);
}
