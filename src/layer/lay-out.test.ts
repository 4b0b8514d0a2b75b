import { existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import type { Change } from '../base/change.ts';
import { WHITEOUT } from '../base/inode.ts';
import { Store } from '../store/store.ts';
import { bringInLine, layOut } from './lay-out.ts';
import { scanUpper } from './scan.ts';
import type { ScanMemory } from './scan-memory.ts';

const isCache = (path: string) => path === 'd/cache';

let place: TemporaryDirectory;
let upper: string;
let memory: ScanMemory;

beforeEach(() => {
	place = temporaryDirectory();
	upper = place.join('upper');
	place.write('upper/d/cache/kept', 'kept');
	place.write('upper/d/file', 'text');
	place.write('upper/e/file', 'text');
	memory = scanUpper(upper, null, { unversioned: isCache }).memory;
});
afterEach(() => place[Symbol.dispose]());

const change = (path: string, after: Change['after'] = null): Change => ({
	path,
	before: null,
	after,
	content: null,
	link: null,
	from: null,
});

it('a directory that is to go but holds unversioned files stays, and the next scan says so', () => {
	const changes = [change('d'), change('d/file'), change('e', WHITEOUT), change('e/file')];
	const after = bringInLine(changes, upper, memory, isCache);
	expect(existsSync(place.join('upper/d/cache/kept'))).toBe(true);
	expect(existsSync(place.join('upper/d/file'))).toBe(false);
	expect(lstatSync(place.join('upper/e')).isCharacterDevice()).toBe(true);
	const found = scanUpper(upper, after, { unversioned: isCache });
	expect(found.changes.map(({ path }) => path)).toEqual(['d']);
});

it('what somebody else changed meanwhile is found by the next scan', () => {
	writeFileSync(place.join('upper/d/file'), 'other');
	const after = bringInLine([change('e'), change('e/file')], upper, memory, isCache);
	const found = scanUpper(upper, after, { unversioned: isCache });
	expect(found.changes.map(({ path }) => path)).toContain('d/file');
	found.close();
});

it('nothing is remembered when somebody else removed something meanwhile', () => {
	rmSync(place.join('upper/d/file'));
	expect(bringInLine([change('e'), change('e/file')], upper, memory, isCache)).toBeNull();
});

it('directories around a change keep their times', () => {
	const before = lstatSync(place.join('upper/e'), { bigint: true }).mtimeNs;
	bringInLine([change('e/file')], upper, memory, isCache);
	expect(lstatSync(place.join('upper/e'), { bigint: true }).mtimeNs).toBe(before);
});

it('a layer that was laid out has nothing for a scan to find', () => {
	const store = Store.create(place.join('session.db'));
	const { changes } = scanUpper(upper, null);
	const staged = store.tree.stage(changes);
	const root = store.write(() => {
		const { ino } = store.tree.addRoot('project', null);
		store.tree.apply(ino, changes, staged);
		return ino;
	});
	mkdirSync(place.join('other'));
	const laidOut = layOut(store.tree.at('now'), root, place.join('other'));
	const found = scanUpper(place.join('other'), laidOut);
	expect(found.changes).toEqual([]);
	expect(found.memory).toBe(laidOut);
	store.close();
});
