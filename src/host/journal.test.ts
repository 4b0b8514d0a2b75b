import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { armCrash, crashPoint, passedCrashPoints } from './crash-point.ts';
import { Journal } from './journal.ts';

let directory: string;
let path: string;

beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), 'journal-'));
	path = join(directory, 'journal');
});

afterEach(() => {
	armCrash(null);
	rmSync(directory, { recursive: true });
});

test('unfinished work is read back with its steps; committed work is gone', () => {
	const journal = Journal.open(path);
	journal.begin('apply', { paths: ['a', 'b\n'] });
	journal.step({ done: 'a' });
	journal.step(2);
	expect(Journal.read(path)).toEqual({ kind: 'apply', data: { paths: ['a', 'b\n'] }, steps: [{ done: 'a' }, 2] });
	journal.commit();
	expect(Journal.read(path)).toBeNull();
	expect(existsSync(path)).toBe(false);
});

test('no file, and a file in which nothing was begun, hold no work', () => {
	expect(Journal.read(path)).toBeNull();
	Journal.open(path).close();
	expect(Journal.read(path)).toBeNull();
});

test('cut at any byte, what is whole is read and the rest ignored', () => {
	const journal = Journal.open(path);
	journal.begin('k', 1);
	const begun = readFileSync(path).length;
	journal.step('one');
	const stepped = readFileSync(path).length;
	journal.close();
	const whole = readFileSync(path);
	for (let length = 0; length <= whole.length; length += 1) {
		writeFileSync(path, whole.subarray(0, length));
		const expected = length < begun ? null : { kind: 'k', data: 1, steps: length < stepped ? [] : ['one'] };
		expect(Journal.read(path)).toEqual(expected);
	}
});

test('a journal opened again goes on behind its last whole line', () => {
	const first = Journal.open(path);
	first.begin('k', 1);
	first.step('one');
	first.close();
	appendFileSync(path, '0123456789abcdef {"step":"torn');
	const second = Journal.open(path);
	expect(() => second.begin('k', 2)).toThrow(/already holds unfinished work/);
	second.step('two');
	expect(Journal.read(path)?.steps).toEqual(['one', 'two']);
	second.close();
});

test('a damaged line ends the journal', () => {
	const journal = Journal.open(path);
	journal.begin('k', 1);
	journal.step('one');
	journal.close();
	const text = readFileSync(path, 'utf8').replace('one', 'oni');
	truncateSync(path, 0);
	appendFileSync(path, text);
	expect(Journal.read(path)).toEqual({ kind: 'k', data: 1, steps: [] });
});

test('a crash after the commit was written leaves nothing to do', () => {
	const journal = Journal.open(path);
	journal.begin('k', 1);
	armCrash(2, () => {
		throw new Error('crash');
	});
	expect(() => journal.commit()).toThrow('crash');
	expect(passedCrashPoints()).toEqual(['journal-append', 'journal-remove']);
	expect(existsSync(path)).toBe(true);
	expect(Journal.read(path)).toBeNull();
	journal.close();
});

test('a crash point does nothing until it is armed, and counts when armed with Infinity', () => {
	crashPoint('a');
	armCrash(Number.POSITIVE_INFINITY);
	crashPoint('b');
	crashPoint('c');
	expect(passedCrashPoints()).toEqual(['b', 'c']);
});
