import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LockFile } from './lock-file.ts';

let directory: string;
let path: string;
const open: LockFile[] = [];

beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), 'lock-file-'));
	path = join(directory, 'lock');
});

afterEach(() => {
	for (const file of open.splice(0)) file.close();
	rmSync(directory, { recursive: true });
});

function opened(): LockFile {
	const file = LockFile.open(path);
	open.push(file);
	return file;
}

test('an exclusive range keeps every other open file out, in the same process too', () => {
	const [a, b] = [opened(), opened()];
	expect(a.tryLock(0, 1, 'exclusive')).toBe(true);
	expect(b.tryLock(0, 1, 'exclusive')).toBe(false);
	expect(b.tryLock(0, 1, 'shared')).toBe(false);
	expect(b.tryLock(1, 1, 'exclusive')).toBe(true);
	a.unlock(0, 1);
	expect(b.tryLock(0, 1, 'exclusive')).toBe(true);
});

test('shared ranges go together and turn exclusive only when they are alone', () => {
	const [a, b] = [opened(), opened()];
	expect(a.tryLock(1, 1, 'shared')).toBe(true);
	expect(b.tryLock(1, 1, 'shared')).toBe(true);
	expect(a.tryLock(1, 1, 'exclusive')).toBe(false);
	expect(b.holder(1, 1, 'exclusive')).toBe('shared');
	b.unlock(1, 1);
	expect(a.tryLock(1, 1, 'exclusive')).toBe(true);
	expect(b.holder(1, 1, 'shared')).toBe('exclusive');
});

test('looking at a range takes nothing', () => {
	const [a, b] = [opened(), opened()];
	expect(a.holder(5, 1, 'exclusive')).toBe('none');
	expect(b.tryLock(5, 1, 'exclusive')).toBe(true);
	expect(b.holder(5, 1, 'exclusive')).toBe('none');
	expect(a.holder(5, 1, 'shared')).toBe('exclusive');
});

test('closing another descriptor of the file keeps the lock', () => {
	const [a, b] = [opened(), opened()];
	expect(a.tryLock(0, 1, 'exclusive')).toBe(true);
	closeSync(openSync(path, 'r'));
	readFileSync(path);
	expect(b.tryLock(0, 1, 'exclusive')).toBe(false);
});

test('a child that inherits the descriptor keeps the lock when the parent has closed it', async () => {
	const a = LockFile.open(path);
	expect(a.tryLock(0, 1, 'exclusive')).toBe(true);
	const child = spawn('sh', ['-c', 'echo up; read line'], { stdio: ['pipe', 'pipe', 'inherit', a.fd] });
	await new Promise((resolve) => child.stdout?.once('data', resolve));
	a.close();
	const b = opened();
	expect(b.tryLock(0, 1, 'exclusive')).toBe(false);
	await ended(child);
	expect(b.tryLock(0, 1, 'exclusive')).toBe(true);
});

test('a lock file that is a symlink is refused', () => {
	symlinkSync(join(directory, 'elsewhere'), path);
	expect(() => LockFile.open(path)).toThrow(/ELOOP/);
});

function ended(child: ChildProcess): Promise<unknown> {
	const exit = new Promise((resolve) => child.once('exit', resolve));
	child.stdin?.end('\n');
	return exit;
}
