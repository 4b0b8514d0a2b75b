import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The root of this repository. */
export const PROJECT = resolve(import.meta.dirname, '../..');

/** One file of this repository, as the architecture tests read it. */
export interface SourceFile {
	/** From the root of the repository, such as `src/store/tree.ts`. */
	readonly path: string;
	/** The text without comments, so that a comment may name what code may not. Lines keep their numbers. */
	readonly code: string;
	readonly lines: number;
	/** What it imports from this repository, as paths from the root; types and `import()` included. */
	readonly imports: readonly string[];
	/** The same without `import()`, which loads nothing before it is called. */
	readonly staticImports: readonly string[];
}

/** Every TypeScript and C file below these folders. */
export function sourceFiles(...folders: string[]): SourceFile[] {
	return folders
		.flatMap((folder) => trackedFiles(`${folder}/`))
		.filter(isSource)
		.map(readSource);
}

/** Files of this repository that git knows or would add, by a pattern, as paths from its root. */
export function trackedFiles(pattern: string): string[] {
	const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', pattern];
	const names = execFileSync('git', args, { cwd: PROJECT, encoding: 'utf8' }).split('\0');
	return names.filter((name) => name !== '' && existsSync(join(PROJECT, name)));
}

/** A file as {@link sourceFiles} gives it, from a text. */
export function sourceFile(path: string, text: string): SourceFile {
	const code = withoutComments(text);
	const imports = (pattern: RegExp) => (path.endsWith('.ts') ? importsOf(path, code, pattern) : []);
	return {
		path,
		code,
		lines: text.split('\n').length - 1,
		imports: imports(ANY_IMPORT),
		staticImports: imports(STATIC_IMPORT),
	};
}

function readSource(path: string): SourceFile {
	return sourceFile(path, readFileSync(join(PROJECT, path), 'utf8'));
}

function isSource(path: string): boolean {
	return /\.(ts|mjs|c|h)$/.test(path);
}

/** Comments become spaces. Strings and templates are stepped over, so that a `//` in one is not taken for a comment. */
function withoutComments(text: string): string {
	const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
	return text.replace(token, (part) => (part.startsWith('/') ? part.replace(/[^\n]/g, ' ') : part));
}

const STATIC_IMPORT = /(?:\bfrom|\bimport)\s*'(\.[^']+)'/g;
const ANY_IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g;

function importsOf(path: string, code: string, pattern: RegExp): string[] {
	return [...code.matchAll(pattern)].map(([, specifier]) => join(path, '..', specifier as string));
}
