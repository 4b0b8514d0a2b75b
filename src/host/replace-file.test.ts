import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { replaceFile } from './replace-file.ts';

test('a file is replaced by another, for its owner alone', () => {
	using place = temporaryDirectory();
	const path = place.write('facts', 'old and long');
	replaceFile(path, 'new');
	expect(readFileSync(path, 'utf8')).toBe('new');
	expect(statSync(path).mode & 0o777).toBe(0o600);
	expect(readdirSync(place.path)).toEqual(['facts']);
});

test('a failure names the file and leaves nothing behind', () => {
	using place = temporaryDirectory();
	mkdirSync(place.join('facts/inside'), { recursive: true });
	expect(() => replaceFile(place.join('facts'), 'new')).toThrow(`write ${place.join('facts')}: `);
	expect(() => replaceFile(place.join('no/facts'), 'new')).toThrow(`write ${place.join('no/facts')}: `);
	expect(readdirSync(place.path)).toEqual(['facts']);
});
