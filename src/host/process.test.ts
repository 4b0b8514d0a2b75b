import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pid } from 'node:process';
import { expect, test } from 'vitest';
import { bootId, isRunning, processStart } from './process.ts';

test('a process is itself, and the same pid with another start is not', () => {
	const start = processStart(pid);
	expect(start).toMatch(/^\d+$/);
	expect(isRunning(pid, start ?? '')).toBe(true);
	expect(isRunning(pid, '1')).toBe(false);
});

test('a pid that nobody has is not running', () => {
	expect(processStart(0x7fffffff)).toBeNull();
});

test('a command with spaces and parentheses in its name is read right, and is gone when it ended', async () => {
	const directory = mkdtempSync(join(tmpdir(), 'process-'));
	const program = join(directory, 'a) R 1 (b');
	copyFileSync('/bin/cat', program);
	const child = spawn(program, [], { stdio: ['pipe', 'pipe', 'inherit'] });
	try {
		child.stdin.write('x');
		await new Promise((resolve) => child.stdout.once('data', resolve));
		const start = processStart(child.pid as number);
		expect(start).toMatch(/^\d{3,}$/);
		child.stdin.end();
		await new Promise((resolve) => child.once('exit', resolve));
		expect(isRunning(child.pid as number, start ?? '')).toBe(false);
	} finally {
		child.kill('SIGKILL');
		rmSync(directory, { recursive: true });
	}
});

test('the boot id is a UUID and does not change', () => {
	expect(bootId()).toMatch(/^[0-9a-f-]{36}$/);
	expect(bootId()).toBe(bootId());
});
