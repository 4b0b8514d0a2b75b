import { renameSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { type Mount, readMounts } from '../host/mount-info.ts';
import { hostSockets, type SocketRequest } from './host-sockets.ts';

let place: TemporaryDirectory;
let servers: Server[];
beforeEach(() => {
	place = temporaryDirectory();
	servers = [];
});
afterEach(() => {
	for (const server of servers) server.close();
	place[Symbol.dispose]();
});

async function listen(name: string): Promise<string> {
	const server = createServer();
	servers.push(server);
	const path = place.join(name);
	await new Promise<void>((resolve) => server.listen(path, resolve));
	return path;
}

function found(change: Partial<SocketRequest> = {}): string[] {
	const sockets = hostSockets({ covers: [], mounts: [], unmask: [], ...change });
	return sockets.filter((path) => path.startsWith(place.path)).map((path) => path.slice(place.path.length + 1));
}

test('sockets that programs listen at are found by their real paths, whatever their names', async () => {
	const names = ['a.sock', 'with space ', 'two\nlines', 'é'];
	for (const name of names) await listen(name);
	// the kernel's list has a line for each: of a name with a line break only the first is seen
	expect(found().sort()).toEqual(names.filter((name) => !name.includes('\n')).sort());
});

test('one that is gone, or was replaced by a file, is none', async () => {
	const path = await listen('a.sock');
	symlinkSync('a.sock', place.join('link'));
	expect(found()).toEqual(['a.sock']);
	place.write('moved', '');
	renameSync(place.join('moved'), path);
	expect(found()).toEqual([]);
});

test('those in private places, and those that are opened by name or with their directory, are left out', async () => {
	const path = await listen('a.sock');
	expect(found({ covers: [place.path] })).toEqual([]);
	expect(found({ unmask: [path] })).toEqual([]);
	expect(found({ unmask: [place.path] })).toEqual([]);
	expect(found({ unmask: [place.join('other')] })).toEqual(['a.sock']);
});

test('one that is a mount point is found although the kernel lists it in another namespace; other machines are not asked', async () => {
	const path = await listen('a.sock');
	renameSync(path, place.join('mounted.sock'));
	const mount = (type: string): Mount => ({ ...(readMounts()[0] as Mount), point: place.join('mounted.sock'), type });
	expect(found()).toEqual([]);
	expect(found({ mounts: [mount('ext4')] })).toEqual(['mounted.sock']);
	expect(found({ mounts: [mount('nfs4')] })).toEqual([]);
	renameSync(place.join('mounted.sock'), path);
});
