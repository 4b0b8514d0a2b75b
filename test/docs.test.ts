import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VARIABLES_READ, VARIABLES_SET } from '../src/base/settings.ts';
import { PAGES } from '../tools/docs.ts';
import { PROJECT, sourceFiles, trackedFiles } from './support/source-files.ts';

describe('generated documents (npm run docs writes them)', () => {
	test.each(Object.keys(PAGES))('%s is what the code says', async (path) => {
		await expect(await PAGES[path]?.()).toMatchFileSnapshot(join(PROJECT, path));
	});
});

describe('the settings', () => {
	const variable = /\benv(?:ironment)?\[?\.?'?([A-Z][A-Z_]+)'?\]?/g;
	const namesIn = (folder: string) =>
		sourceFiles(folder)
			.filter(({ path }) => !path.endsWith('.test.ts'))
			.flatMap(({ code }) => [...code.matchAll(variable)].map(([, name]) => name));

	test('name every variable that the command line reads, and no other', () => {
		expect([...new Set(namesIn('src/cli'))].sort()).toEqual(VARIABLES_READ.map(({ name }) => name).sort());
	});

	test('name every variable that the sandbox sets, and no other', () => {
		expect([...new Set(namesIn('src/sandbox'))].sort()).toEqual(VARIABLES_SET.map(({ name }) => name).sort());
	});
});

describe('documents', () => {
	const documents = trackedFiles('*.md');

	test.each(documents)('%s links only to what is there', (path) => {
		const text = readFileSync(join(PROJECT, path), 'utf8');
		const links = [...text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(([, link]) => link as string);
		expect(links.filter((link) => !existsSync(join(PROJECT, dirname(path), link)))).toEqual([]);
	});

	test.each(documents)('%s names only files that are there', (path) => {
		const text = readFileSync(join(PROJECT, path), 'utf8');
		const names = [...text.matchAll(/`((?:src|test|tools|docs|native|bench)\/[\w./-]+)`/g)].map(
			([, name]) => name as string,
		);
		expect(names.filter((name) => !existsSync(join(PROJECT, name)))).toEqual([]);
	});
});
