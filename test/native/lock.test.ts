import { closeSync, openSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { LaunchRig } from '../support/launch-rig.ts';

describe.each(accounts())('the lock on descriptor 6, as $name', (account) => {
	let rig: LaunchRig;
	let path: string;
	beforeEach(() => {
		rig = new LaunchRig(account);
		path = rig.file('lock', '');
	});
	afterEach(() => rig[Symbol.dispose]());

	/** Starts a launcher that locks one byte; this process keeps no descriptor of the file. */
	function start(script: string, lockByte = 0) {
		const lock = openSync(path, 'r+');
		try {
			return rig.start(rig.plan(['sh', '-c', script], { first: [['lock', 6, lockByte, 1]] }), { lock });
		} finally {
			closeSync(lock);
		}
	}

	test('a second launcher is denied while the first one runs, and not after it', async () => {
		const first = start('echo ready; read line');
		await first.said(/ready/);
		const second = await start('echo ran').ended;
		expect(second).toMatchObject({ code: 125, stdout: '' });
		expect(second.failure).toMatch(/^fail 0 (11|13) lock held by another$/);
		expect(second.report).toHaveLength(1);
		first.stdin.end('\n');
		await first.ended;
		expect((await start('echo ran').ended).stdout).toBe('ran\n');
	});

	test('other bytes are free', async () => {
		const first = start('echo ready; read line');
		await first.said(/ready/);
		expect((await start('echo ran', 1).ended).stdout).toBe('ran\n');
		first.stdin.end('\n');
		await first.ended;
	});

	test('it is held until the launcher and everything inside is gone, also when that is killed', async () => {
		const first = start('setsid sh -c "echo ready; while :; do sleep 1000; done" & wait');
		await first.said(/ready/);
		first.kill('SIGKILL');
		await first.ended;
		// The launcher is gone; PID 1 follows it, and the lock ends with the last of them.
		let last = await start('echo ran').ended;
		while (last.failure !== '') last = await start('echo ran').ended;
		expect(last.stdout).toBe('ran\n');
	});

	test('the command does not have it', async () => {
		const ended = await start('ls /proc/self/fd | wc -l; ls -l /proc/$$/fd | grep -c lock').ended;
		expect(ended.stdout).toBe('4\n0\n');
	});

	test('only descriptor 6 can be locked, and it has to be there', async () => {
		const locking = (fd: number) => rig.plan(['true'], { first: [['lock', fd, 0, 1]] });
		expect((await rig.start(locking(4)).ended).failure).toBe('fail 0 9 lock the descriptor to lock is 6');
		expect((await rig.start(rig.plan(['true'], { first: [['lock', 6, 'x', 1]] })).ended).failure).toBe(
			'fail 0 22 lock not a number in range: x',
		);
		const readOnly = openSync(path, 'r');
		expect((await rig.start(locking(6), { lock: readOnly }).ended).failure).toMatch(/^fail 0 9 lock /);
		closeSync(readOnly);
	});
});
