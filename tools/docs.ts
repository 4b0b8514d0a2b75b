import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VARIABLES_READ, VARIABLES_SET } from '../src/base/settings.ts';
import { DROPPED_PREFIXES, DROPPED_VARIABLES } from '../src/sandbox/environment.ts';
import { CONFIG_KEYS } from '../src/store/config.ts';
import { BUSY_TIMEOUT_MS } from '../src/store/driver.ts';
import { ORIGIN_CONTENT_BYTES } from '../src/store/origins.ts';
import {
	APPLICATION_ID,
	type Column,
	PAGE_BYTES,
	PLAIN_TABLES,
	SCHEMA_VERSION,
	VERSIONED_TABLES,
} from '../src/store/schema.ts';
import { CHUNK_BYTES } from '../src/store/tree-write.ts';
import { PROJECT } from '../test/support/source-files.ts';
import { manPage } from './man-page.ts';
import { manualPage } from './manual.ts';
import { markdownTable } from './markdown-table.ts';

/**
 * Every document that is generated, by its path from the root of the repository. A page with markers keeps its prose; what
 * stands between `<!-- generated: NAME -->` and `<!-- end -->` is written anew. `npm run docs` writes all of them, and
 * test/docs.test.ts fails while one is stale.
 */
export const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
	'docs/format.md': () => withGenerated('docs/format.md'),
	'docs/settings.md': () => withGenerated('docs/settings.md'),
	'docs/manual.md': manualPage,
	'docs/man/dropcloth.1': manPage,
};

/** What can stand between markers. */
const SECTIONS: Readonly<Record<string, () => string>> = {
	recognition: () =>
		markdownTable(
			['what', 'value', 'where'],
			[
				['application id', `0x${APPLICATION_ID.toString(16)} (\`dcl1\`)`, '`pragma application_id`, bytes 68 to 71'],
				['version', String(SCHEMA_VERSION), '`pragma user_version`, bytes 60 to 63'],
				['bytes of a page', String(PAGE_BYTES), '`pragma page_size`, set before the first table'],
			],
		),
	'versioned tables': () =>
		VERSIONED_TABLES.map(({ name, meaning, key, columns }) =>
			tableSection(`${name}, ${name}_past`, `${meaning}; key ${key.map(code).join(', ')}`, columns),
		).join('\n\n'),
	'plain tables': () =>
		PLAIN_TABLES.map(({ name, meaning, columns }) => tableSection(name, meaning, columns)).join('\n\n'),
	'config keys': () =>
		markdownTable(
			['key', 'meaning'],
			Object.entries(CONFIG_KEYS).map(([key, meaning]) => [code(key), meaning]),
		),
	'variables read': () =>
		markdownTable(
			['variable', 'meaning', 'otherwise'],
			VARIABLES_READ.map(({ name, meaning, otherwise }) => [code(name), meaning, otherwise]),
		),
	'variables set': () =>
		markdownTable(
			['variable', 'meaning'],
			VARIABLES_SET.map(({ name, meaning }) => [code(name), meaning]),
		),
	'variables dropped': () =>
		[...DROPPED_VARIABLES, ...DROPPED_PREFIXES.map((prefix) => `${prefix}*`)].map(code).join(', '),
	'fixed values': () =>
		markdownTable(
			['what', 'value'],
			[
				['bytes of a full chunk of a new file', String(CHUNK_BYTES)],
				['bytes up to which the base’s own content of a changed file is kept for merges', String(ORIGIN_CONTENT_BYTES)],
				['milliseconds to wait for another connection’s lock', String(BUSY_TIMEOUT_MS)],
			],
		),
};

const GENERATED = /(<!-- generated: ([\w ]+) -->\n)[\s\S]*?(<!-- end -->)/g;

function withGenerated(path: string): string {
	const text = readFileSync(join(PROJECT, path), 'utf8');
	return text.replace(GENERATED, (_, start: string, name: string, end: string) => {
		const section = SECTIONS[name];
		if (section === undefined) throw new Error(`${path} asks for '${name}', which tools/docs.ts does not have`);
		return `${start}${section()}\n${end}`;
	});
}

function tableSection(name: string, meaning: string, columns: readonly Column[]): string {
	const rows = columns.map((column) => [code(column.name), code(column.type), column.meaning]);
	return `### ${name}\n\n${capital(meaning)}.\n\n${markdownTable(['column', 'type', 'meaning'], rows)}`;
}

function code(text: string): string {
	return `\`${text}\``;
}

function capital(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}
