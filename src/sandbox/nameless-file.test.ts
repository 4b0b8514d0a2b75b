import { closeSync, fstatSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { openNamelessFile } from './nameless-file.ts';

test('a file without a name, private, read from the start after writing at a position', () => {
	using place = temporaryDirectory();
	const fd = openNamelessFile(place.path);
	expect([readdirSync(place.path), fstatSync(fd).nlink, fstatSync(fd).mode & 0o777]).toEqual([[], 0, 0o600]);
	writeSync(fd, Buffer.from('plan'), 0, 4, 0);
	expect(readFileSync(fd, 'utf8')).toBe('plan');
	closeSync(fd);
	expect(() => openNamelessFile('/nope')).toThrow('ENOENT');
});
