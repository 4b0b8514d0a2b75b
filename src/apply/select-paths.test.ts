import { describe, expect, it } from 'vitest';
import { selectPaths } from './select-paths.ts';

describe('selectPaths', () => {
	it.each([
		[['src/**'], 'src/a/b.ts', true],
		[['src/**'], 'lib/a.ts', false],
		[['src'], 'src/a/b.ts', true],
		[['./src/'], 'src/.hidden', true],
		[['*.md'], 'README.md', true],
		[['*.md'], 'docs/x.md', false],
		[['**/*.md'], 'docs/x.md', true],
		[['a', 'b'], 'b', true],
		[['sr'], 'src/a', false],
		[[], 'anything', true],
	])('%j of %s: %s', (globs, path, expected) => {
		expect(selectPaths(globs)(path)).toBe(expected);
	});

	it.each(['', '.', '/', '/etc/*', '../x'])('refuses %j', (glob) => {
		expect(() => selectPaths([glob])).toThrowError(/matches no path/);
	});
});
