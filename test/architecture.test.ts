import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EMPTY_NAMES, FOLDERS, FORBIDDEN_TEXTS, type Folder, MOST_LINES } from './support/architecture.ts';
import { PROJECT, type SourceFile, sourceFile, sourceFiles } from './support/source-files.ts';

const sources = sourceFiles('src');
const production = sources.filter(({ path }) => !isTest(path));

describe('the folders are the architecture', () => {
	test('every folder of src/ is in the table, and each of the table exists', () => {
		const folders = new Set(sources.map(({ path }) => folderOf(path)).filter((folder) => folder !== null));
		expect([...folders].sort()).toEqual(Object.keys(FOLDERS).sort());
	});

	test('a folder imports only what the table allows', () => {
		expect(sources.flatMap(forbiddenArrows)).toEqual([]);
	});

	test('an arrow that the table does not have is found, and so is a folder that it does not know', () => {
		const up = sourceFile('src/store/x.ts', "import { main } from '../cli/main.ts';");
		expect(forbiddenArrows(up)).toEqual(['src/store/x.ts must not import cli/']);
		const unknown = sourceFile('src/base/x.ts', "const m = await import('../elsewhere/m.ts');");
		expect(forbiddenArrows(unknown)).toEqual(['src/base/x.ts must not import elsewhere/']);
	});

	test('no files import each other in a circle', () => {
		expect(circles(new Map(production.map(({ path, staticImports }) => [path, staticImports])))).toEqual([]);
	});

	test('a circle is found', () => {
		const graph = new Map([
			['a', ['b']],
			['b', ['c']],
			['c', ['b', 'd']],
			['d', []],
		]);
		expect(circles(graph)).toEqual(['b', 'c']);
	});

	test('ARCHITECTURE.md shows the table as it is', () => {
		const text = readFileSync(join(PROJECT, 'ARCHITECTURE.md'), 'utf8');
		const rows = [...text.matchAll(/^\| `src\/(\w+)\/` \| (.*?) \| (.*?) \|$/gm)];
		const expected = Object.entries(FOLDERS).map(([name, { holds, imports }]) => [
			name,
			holds,
			imports.length === 0 ? 'nothing' : imports.join(', '),
		]);
		expect(rows.map((row) => row.slice(1))).toEqual(expected);
	});
});

describe('a source file', () => {
	test(`has at most ${MOST_LINES} lines`, () => {
		const files = [...sources, ...sourceFiles('native', 'test', 'tools', 'bench')].filter(({ path }) => !isTest(path));
		expect(files.filter(({ lines }) => lines > MOST_LINES).map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
	});

	test('is named after what it holds', () => {
		const names = sources.flatMap(({ path }) =>
			path
				.replace(/(\.test)?\.ts$/, '')
				.split('/')
				.slice(1),
		);
		expect(names.filter((name) => EMPTY_NAMES.includes(name))).toEqual([]);
		expect(production.filter(({ path }) => /^src\/\w+\/index\.ts$/.test(path))).toEqual([]);
	});

	test.each(FORBIDDEN_TEXTS)('does not hold $pattern: $because', ({ pattern, allowedIn }) => {
		const found = production.filter(({ path }) => !allowedIn(path)).flatMap((file) => linesWith(pattern, file));
		expect(found).toEqual([]);
	});

	test.each([
		'const home = homedir();',
		'const key = process.env.KEY;',
		"console.log('done');",
		"db.prepare('insert or replace into config values(?, ?)');",
		"db.exec('INSERT OR IGNORE INTO seal VALUES(?, ?)');",
		"readFileSync(join(place, 'session.db'));",
		"openSync(path + '-wal', 'r');",
		'export default main;',
		"export * from './tree.ts';",
	])('is refused with %s', (line) => {
		const file = sourceFile('src/store/x.ts', `${line}\n`);
		expect(FORBIDDEN_TEXTS.flatMap(({ pattern }) => linesWith(pattern, file))).toEqual(['src/store/x.ts:1']);
	});
});

describe('the command line', () => {
	test('is the only one that knows its exit codes, in one table', () => {
		expect(existsSync(join(PROJECT, 'src/cli/exit-codes.ts'))).toBe(true);
		const exits = production
			.filter(({ path }) => !path.startsWith('src/cli/'))
			.flatMap((f) => linesWith(/\bprocess\.exit/, f));
		expect(exits).toEqual([]);
	});
});

function isTest(path: string): boolean {
	return path.endsWith('.test.ts');
}

function forbiddenArrows({ path, imports }: SourceFile): string[] {
	const from = folderOf(path);
	if (from === null) return [];
	const allowed: readonly string[] = FOLDERS[from as Folder]?.imports ?? [];
	const targets = new Set(imports.map(folderOf).filter((to) => to !== null && to !== from && !allowed.includes(to)));
	return [...targets].map((to) => `${path} must not import ${to}/`);
}

/** The folder of src/ that a file is in; null for src/index.ts and files elsewhere. */
function folderOf(path: string): string | null {
	return /^src\/([^/]+)\//.exec(path)?.[1] ?? null;
}

/** The files that are in a circle or on a way between two: what is left when all that can't be is taken away. */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[] {
	let files = new Set(graph.keys());
	for (let before = -1; before !== files.size; ) {
		before = files.size;
		const imported = new Set([...files].flatMap((file) => graph.get(file) ?? []));
		const importsSome = (file: string) => graph.get(file)?.some((target) => files.has(target)) === true;
		files = new Set([...files].filter((file) => imported.has(file) && importsSome(file)));
	}
	return [...files].sort();
}

function linesWith(pattern: RegExp, { path, code }: SourceFile): string[] {
	return code.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : []));
}
