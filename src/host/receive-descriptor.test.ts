import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DescriptorChannel } from './receive-descriptor.ts';

/** Opens a pipe and hands its reading end out over standard input; what is read from it was written before. */
const SENDER = `
import array, os, socket
reading, writing = os.pipe()
os.write(writing, b'through the pipe')
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [reading]))]
socket.socket(fileno=0).sendmsg([b'x'], rights)
`;

test('a descriptor that a child has sent is open here', async () => {
	using channel = new DescriptorChannel();
	const child = spawn('python3', ['-c', SENDER], { stdio: [channel.theirs, 'inherit', 'inherit'] });
	channel.closeTheirs();
	expect(await once(child, 'exit')).toEqual([0, null]);
	const fd = channel.receive();
	const bytes = Buffer.alloc(100);
	expect(bytes.subarray(0, readSync(fd, bytes)).toString()).toBe('through the pipe');
	closeSync(fd);
});

test('nothing sent, something else sent, and the other end gone are told apart', () => {
	using channel = new DescriptorChannel();
	expect(() => channel.receive()).toThrow(expect.objectContaining({ code: 'EAGAIN' }));
	spawnSync('sh', ['-c', 'printf x >&0'], { stdio: [channel.theirs, 'inherit', 'inherit'] });
	expect(() => channel.receive()).toThrow(expect.objectContaining({ code: 'EIO' }));
	channel.closeTheirs();
	expect(() => channel.receive()).toThrow(expect.objectContaining({ code: 'EIO' }));
});

test('both ends are closed once, whoever closed theirs first', () => {
	const channel = new DescriptorChannel();
	channel[Symbol.dispose]();
	channel.closeTheirs();
	channel[Symbol.dispose]();
	expect(() => fstatSync(channel.theirs)).toThrow(expect.objectContaining({ code: 'EBADF' }));
});
