import { closeSync, openSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DescriptorChannel } from '../../src/host/receive-descriptor.ts';
import { accounts } from '../support/accounts.ts';
import { LaunchRig, type Operation } from '../support/launch-rig.ts';

const CONNECT = `import socket; s = socket.create_connection(('127.0.0.1', 3128)); print(s.recv(100).decode())`;

describe.each(accounts())('a listening socket handed out, as $name', (account) => {
	let rig: LaunchRig;
	beforeEach(() => {
		rig = new LaunchRig(account);
	});
	afterEach(() => rig[Symbol.dispose]());

	function plan(command: readonly string[], listen: Operation = ['listen', '127.0.0.1', 3128]): Operation[] {
		return [
			...rig.enter(',net'),
			['fs', 0, 'proc', '', ''],
			['attach', 0, '/proc'],
			['lo'],
			listen,
			...rig.identity(),
			['exec', command.length, ...command],
		];
	}

	test('connections made inside reach a server outside, also those from before it accepts', async () => {
		using channel = new DescriptorChannel();
		const launch = rig.start(plan(['python3', '-c', `print('up', flush=True); ${CONNECT}`]), {
			more: [channel.theirs],
		});
		channel.closeTheirs();
		await launch.said(/up/);
		const server = createServer((socket: Socket) => socket.end('from outside'));
		server.listen({ fd: channel.receive() });
		expect((await launch.ended).stdout).toBe('up\nfrom outside\n');
		server.close();
	});

	test('nobody inside has the listening socket, nor the one that it was handed out by', async () => {
		using channel = new DescriptorChannel();
		const launch = rig.start(plan(['sh', '-c', 'ls /proc/$$/fd']), { more: [channel.theirs] });
		channel.closeTheirs();
		expect((await launch.ended).stdout).toBe('0\n1\n2\n');
		closeSync(channel.receive());
	});

	test('when the owner closes it, nobody listens any more', async () => {
		using channel = new DescriptorChannel();
		const launch = rig.start(plan(['sh', '-c', `echo up; read line; python3 -c "${CONNECT}" 2>&1`]), {
			more: [channel.theirs],
		});
		channel.closeTheirs();
		await launch.said(/up/);
		closeSync(channel.receive());
		launch.stdin.end('\n');
		expect((await launch.ended).stdout).toMatch(/ConnectionRefusedError/);
	});

	test.each([
		['no address', ['listen', '127.0.0', 3128], / 22 listen 127.0.0$/],
		['a name', ['listen', 'localhost', 3128], / 22 listen localhost$/],
		['a number too large', ['listen', '127.0.0.256', 3128], / 22 listen 127.0.0.256$/],
		['more than an address', ['listen', '127.0.0.1.1', 3128], / 22 listen 127.0.0.1.1$/],
		['an address that is not there', ['listen', '10.1.2.3', 3128], / 99 listen 10.1.2.3$/],
		['no port', ['listen', '127.0.0.1', 65536], / 22 listen /],
	] as [string, Operation, RegExp][])('%s is a failure of the plan', async (_name, listen, failure) => {
		const ended = await rig.start(plan(['true'], listen)).ended;
		expect(ended).toMatchObject({ code: 125, failure: expect.stringMatching(failure) });
	});

	test('what is no socket cannot be handed out by', async () => {
		const file = openSync('/dev/null', 'r+');
		const ended = await rig.start(plan(['true']), { more: [file] }).ended;
		closeSync(file);
		expect(ended.failure).toMatch(/ 88 listen no owner to hand a descriptor to$/);
	});
});
