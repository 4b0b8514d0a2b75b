import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { scanUpper } from './scan.ts';
import { ScanMemory } from './scan-memory.ts';

let place: TemporaryDirectory;
let memory: ScanMemory;
let path: string;

beforeEach(() => {
	place = temporaryDirectory();
	for (const name of ['b/2', 'b/10', 'a', 'ü', 'b-/x']) place.write(`upper/${name}`, name);
	memory = scanUpper(place.join('upper'), null).memory;
	path = place.join('scan.db');
});
afterEach(() => place[Symbol.dispose]());

it('comes back from its file as it was', () => {
	memory.save(path, 'token ü');
	const loaded = ScanMemory.load(path, 'token ü');
	expect([...(loaded?.paths() ?? [])]).toEqual(['', 'a', 'b', 'b/10', 'b/2', 'b-', 'b-/x', 'ü']);
	expect(loaded?.records).toEqual(memory.records);
});

it('finds records by path', () => {
	for (const known of memory.paths()) expect(memory.find(known)).toBeGreaterThanOrEqual(0);
	for (const unknown of ['c', 'b/1', 'a/x', 'b/2/y', 'b/']) expect(memory.find(unknown)).toBe(-1);
});

it('is none when there is no file, or one for another state of the store', () => {
	expect(ScanMemory.load(path, 'token')).toBeNull();
	memory.save(path, 'token');
	expect(ScanMemory.load(path, 'other')).toBeNull();
});

it('is none when its file was cut short anywhere, or a byte of it changed', () => {
	memory.save(path, 'token');
	const whole = readFileSync(path);
	for (let at = 0; at < whole.length; at++) {
		const damaged = Buffer.from(whole);
		damaged[at] = (damaged[at] as number) ^ 0x40;
		writeFileSync(path, damaged);
		expect(ScanMemory.load(path, 'token')).toBeNull();
	}
	writeFileSync(path, whole);
	for (let length = whole.length - 1; length >= 0; length--) {
		truncateSync(path, length);
		expect(ScanMemory.load(path, 'token')).toBeNull();
	}
});

it('takes the place of an older one, and leaves nothing else behind', () => {
	memory.save(path, 'one');
	memory.save(path, 'two');
	expect(ScanMemory.load(path, 'two')).not.toBeNull();
	expect(readdirSync(place.path).sort()).toEqual(['scan.db', 'upper']);
});
