import { closeSync, mkdirSync, openSync, readFileSync, symlinkSync, truncateSync, writeSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { errorCode } from '../base/posix-error.ts';
import {
	closeFd,
	listIn,
	makeNodeIn,
	openIn,
	RENAME_EXCHANGE,
	RENAME_NOREPLACE,
	removeDirectoryIn,
	renameIn,
	unlinkIn,
} from './entries.ts';
import { dataRanges } from './holes.ts';
import { statIn } from './host-stat.ts';
import { openBeneath } from './open-beneath.ts';
import { O_RDONLY } from './open-flags.ts';

let place: TemporaryDirectory;
let directory: number;

beforeEach(() => {
	place = temporaryDirectory();
	directory = openSync(place.path, 'r');
});

afterEach(() => {
	closeSync(directory);
	place[Symbol.dispose]();
});

function codeOf(work: () => unknown): string | null {
	try {
		work();
		return null;
	} catch (error) {
		return errorCode(error);
	}
}

test('a rename can refuse to replace, and can swap', () => {
	place.write('a', 'A');
	place.write('b', 'B');
	expect(codeOf(() => renameIn(directory, 'a', directory, 'b', RENAME_NOREPLACE))).toBe('EEXIST');
	renameIn(directory, 'a', directory, 'b', RENAME_EXCHANGE);
	expect(readFileSync(place.join('a'), 'utf8')).toBe('B');
	renameIn(directory, 'a', directory, 'b');
	expect(listIn(directory)).toEqual(['b']);
});

test('thousands of names are listed once each, whatever their bytes', () => {
	const names = Array.from({ length: 1200 }, (_, index) => `${'long name '.repeat(5)}${index}`);
	for (const name of [...names, 'ü', '..\udcff', '...']) makeNodeIn(directory, name, 'fifo', 0o600);
	expect(listIn(directory).sort()).toEqual([...names, 'ü', '..\udcff', '...'].sort());
});

test('directories and other names are removed by calls of their own', () => {
	mkdirSync(place.join('d'));
	place.write('f', '');
	expect(codeOf(() => unlinkIn(directory, 'd'))).toBe('EISDIR');
	expect(codeOf(() => removeDirectoryIn(directory, 'f'))).toBe('ENOTDIR');
	unlinkIn(directory, 'f');
	removeDirectoryIn(directory, 'd');
	expect(listIn(directory)).toEqual([]);
});

test('a whiteout node needs no privilege, and sockets and FIFOs are what they are', () => {
	makeNodeIn(directory, 'w', 'char', 0);
	makeNodeIn(directory, 's', 'socket', 0o600);
	expect(statIn(directory, 'w')).toMatchObject({ kind: 'char', rdev: 0, mode: 0 });
	expect(statIn(directory, 's')).toMatchObject({ kind: 'socket', mode: 0o600 });
});

test('a link is not opened', () => {
	symlinkSync('/etc/passwd', place.join('link'));
	expect(codeOf(() => openIn(directory, 'link', O_RDONLY))).toBe('ELOOP');
});

test('what lies beneath is opened through no link and not above, by one call or name by name', () => {
	place.write('d/file', 'x');
	symlinkSync('d', place.join('link'));
	closeFd(openBeneath(directory, 'd/file', O_RDONLY));
	closeFd(openBeneath(directory, '', O_RDONLY));
	expect(codeOf(() => openBeneath(directory, 'link/file', O_RDONLY))).toBe('ELOOP');
	expect(codeOf(() => openBeneath(directory, '../x', O_RDONLY))).toBe('EXDEV');
	const long = `${'n'.repeat(200)}/`.repeat(25);
	expect(codeOf(() => openBeneath(directory, `link/${long}file`, O_RDONLY))).toBe('ENOTDIR');
	expect(codeOf(() => openBeneath(directory, `d/${long}file`, O_RDONLY))).toBe('ENOENT');
});

test('the data of a file with holes is found, and of an empty or hollow one there is none', () => {
	const fd = openSync(place.join('sparse'), 'w+');
	truncateSync(place.join('sparse'), 4_000_000);
	expect([...dataRanges(fd, 4_000_000)]).toEqual([]);
	expect([...dataRanges(fd, 0)]).toEqual([]);
	writeSync(fd, 'x', 1_048_576);
	const [range, ...more] = dataRanges(fd, 4_000_000);
	expect(more).toEqual([]);
	expect(range?.start).toBeLessThanOrEqual(1_048_576);
	expect(range?.end).toBeGreaterThan(1_048_576);
	expect((range?.end ?? 0) - (range?.start ?? 0)).toBeLessThan(1_000_000);
	closeSync(fd);
});
