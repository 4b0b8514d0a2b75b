import { appendFileSync, mkdirSync, renameSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { encodeName } from '../base/bytes.ts';
import {
	IN_CLOSE_WRITE,
	IN_CREATE,
	IN_DELETE,
	IN_IGNORED,
	IN_ISDIR,
	IN_MODIFY,
	IN_MOVED_FROM,
	IN_MOVED_TO,
	Inotify,
	visitEvents,
} from './inotify.ts';

type Seen = [watch: number, mask: number, name: string];

function event(watch: number, mask: number, name: string): Buffer {
	const bytes = encodeName(name);
	const nameBytes = bytes.length === 0 ? 0 : Math.ceil((bytes.length + 1) / 16) * 16;
	const all = Buffer.alloc(16 + nameBytes);
	all.writeInt32LE(watch, 0);
	all.writeUInt32LE(mask, 4);
	all.writeUInt32LE(nameBytes, 12);
	bytes.copy(all, 16);
	return all;
}

function readAll(inotify: Inotify): Seen[] {
	const seen: Seen[] = [];
	inotify.read(IN_ISDIR, (watch, mask, name) => seen.push([watch, mask >>> 0, name]));
	return seen;
}

test('events are told one after another, with names of any bytes where they are asked for', () => {
	const name = 'd\udcff'.repeat(9);
	const bytes = Buffer.concat([
		event(7, IN_MODIFY, 'f'),
		event(7, (IN_CREATE | IN_ISDIR) >>> 0, name),
		event(-1, 0x4000, ''),
		event(2, (IN_CREATE | IN_ISDIR) >>> 0, 'sixteen bytes ..'),
	]);
	const seen: Seen[] = [];
	expect(visitEvents(bytes, IN_ISDIR, (...given) => seen.push(given))).toBe(4);
	expect(seen).toEqual([
		[7, IN_MODIFY, ''],
		[7, IN_CREATE | IN_ISDIR, name],
		[-1, 0x4000, ''],
		[2, IN_CREATE | IN_ISDIR, 'sixteen bytes ..'],
	]);
});

test('the kernel tells what changes in a directory, in order, and nothing when nothing does', () => {
	using place = temporaryDirectory();
	mkdirSync(place.join('a'));
	const inotify = Inotify.open();
	try {
		const watch = inotify.add(place.join('a'));
		expect(inotify.add(place.join('a'))).toBe(watch);
		expect(readAll(inotify)).toEqual([]);
		writeFileSync(place.join('a/f'), '');
		appendFileSync(place.join('a/f'), 'x');
		mkdirSync(place.join('a/d'));
		renameSync(place.join('a/d'), place.join('a/e'));
		rmdirSync(place.join('a/e'));
		expect(readAll(inotify)).toEqual([
			[watch, IN_CREATE, ''],
			[watch, IN_CLOSE_WRITE, ''],
			[watch, IN_MODIFY, ''],
			[watch, IN_CLOSE_WRITE, ''],
			[watch, IN_CREATE | IN_ISDIR, 'd'],
			[watch, IN_MOVED_FROM | IN_ISDIR, 'd'],
			[watch, IN_MOVED_TO | IN_ISDIR, 'e'],
			[watch, IN_DELETE | IN_ISDIR, 'e'],
		]);
	} finally {
		inotify.close();
	}
});

test('a removed directory ends its watch; a link and a missing name are refused', () => {
	using place = temporaryDirectory();
	mkdirSync(place.join('a'));
	symlinkSync('a', place.join('link'));
	const inotify = Inotify.open();
	try {
		const watch = inotify.add(place.join('a'));
		expect(() => inotify.add(place.join('link'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
		expect(() => inotify.add(place.join('missing'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
		rmdirSync(place.join('a'));
		expect(readAll(inotify)).toContainEqual([watch, IN_IGNORED, '']);
	} finally {
		inotify.close();
	}
});

test('thousands of events are read at once', () => {
	using place = temporaryDirectory();
	const inotify = Inotify.open();
	try {
		inotify.add(place.path);
		for (let file = 0; file < 4000; file++) writeFileSync(place.join(`file-${file}`), '');
		expect(readAll(inotify)).toHaveLength(8000);
		expect(readAll(inotify)).toEqual([]);
	} finally {
		inotify.close();
	}
});
