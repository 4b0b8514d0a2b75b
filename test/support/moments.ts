import { join } from 'node:path';
import { expect } from 'vitest';
import { takeLiveSnapshot } from '../../src/session/live-snapshot.ts';
import { placeInStore } from '../../src/session/session-place.ts';
import type { Account } from './accounts.ts';
import type { Running } from './built-program.ts';
import { fileAt } from './file-at.ts';
import type { SessionRig } from './session-rig.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Writes the same rising number into two files, one right after the other, until it is told to end; says the last one. */
export const LOCKSTEP = `
import os, signal
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
a, b = (os.open(name, os.O_RDWR | os.O_CREAT) for name in 'ab')
n = 0
while not ended:
    n += 1
    for fd in (a, b): os.pwrite(fd, b'%020d' % n, 0)
    if n == 100: print('begun', flush=True)
print(n)
`;

/** The same through one mapping of one file, two pages apart. */
export const MAPPED = `
import mmap, signal
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
with open('f', 'wb') as f: f.truncate(16384)
f = open('f', 'r+b')
m = mmap.mmap(f.fileno(), 16384, mmap.MAP_SHARED)
numbers = memoryview(m).cast('q')
n = 0
while not ended:
    n += 1
    numbers[0] = n
    numbers[1024] = n
    if n == 100: print('begun', flush=True)
print(n)
`;

/** Takes the name of an open file away, and gives it another. */
const RENAME_BY_LINK = `
def other(name):
    os.link(name, 'other/' + name)
    os.unlink(name)
os.mkdir('other')
`;

/** {@link LOCKSTEP} in files that are known by other names than those by which they were opened. */
export const UNNAMED_LOCKSTEP = LOCKSTEP.replace('n = 0', `${RENAME_BY_LINK}other('a'); other('b')\nn = 0`);

/** {@link MAPPED} in such a file. */
export const UNNAMED_MAPPED = `import os${MAPPED}`.replace('n = 0', `f.close()\n${RENAME_BY_LINK}other('f')\nn = 0`);

/** Adds a row to each of two tables of a database in WAL mode, and takes an old one away. */
export const DATABASE = `
import signal, sqlite3
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
db = sqlite3.connect('db', isolation_level=None)
db.execute('pragma journal_mode=wal')
db.execute('pragma wal_autocheckpoint=50')
db.execute('create table a(n integer primary key, text)')
db.execute('create table b(n integer primary key, text)')
n = 0
while not ended:
    n += 1
    db.execute('begin')
    for table in 'ab':
        db.execute(f'insert into {table} values(?, ?)', (n, 'x' * (n * 37 % 3000)))
        db.execute(f'delete from {table} where n <= ?', (n - 300,))
    db.execute('commit')
    if n == 20: print('begun', flush=True)
print(n)
`;

/** Starts one of the programs in the session of the project. */
export function startPython(rig: Pick<SessionRig, 'cli' | 'project'>, program: string, ...flags: string[]): Running {
	return rig.cli.start(['quick', rig.project, ...flags, '--', '/usr/bin/python3', '-c', program]);
}

/** Takes snapshots of the live session by its owner, as `snap` does; their numbers. */
export async function snapshots({ cli }: Pick<SessionRig, 'cli'>, count: number): Promise<number[]> {
	const ids: number[] = [];
	for (let taken = 0; taken < count; taken++) {
		const place = placeInStore(cli.storePath, 'project');
		const snapshot = await takeLiveSnapshot(place, { tag: null, note: null, force: false });
		if (snapshot === null) throw new Error('the session is not live');
		ids.push(snapshot.id);
	}
	return ids;
}

/** Has a program of above come to its end: its last number. */
export async function endOf(running: Running): Promise<number> {
	running.kill('SIGTERM');
	const ran = await running.ended;
	expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
	return Number(ran.stdout.trim().split('\n').at(-1));
}

/** Pairs of numbers, oldest snapshot first: the first is equal to the second or one ahead, and they never fall. */
export function expectLockstep(pairs: readonly (readonly [number, number])[]): void {
	for (const [a, b] of pairs) expect([0, 1], `${a} and ${b}`).toContain(a - b);
	const firsts = pairs.map(([a]) => a);
	expect(firsts).toEqual([...firsts].sort((a, b) => a - b));
	expect(firsts.at(-1)).toBeGreaterThan(firsts[0] as number);
}

/** The two numbers of {@link LOCKSTEP} at each snapshot, and now. */
export function lockstepPairs(
	rig: SessionRig,
	ids: readonly number[],
	[a, b]: readonly [string, string] = ['a', 'b'],
): (readonly [number, number])[] {
	return [...ids, 'now' as const].map(
		(id) => [Number(fileAt(rig.cli, id, a)), Number(fileAt(rig.cli, id, b))] as const,
	);
}

/** The two numbers of {@link MAPPED} at each snapshot, and now. */
export function mappedPairs(
	{ cli }: Pick<SessionRig, 'cli'>,
	ids: readonly number[],
	path = 'f',
): (readonly [number, number])[] {
	return [...ids, 'now' as const].map((id) => {
		const file = fileAt(cli, id, path) as Buffer;
		return [Number(file.readBigInt64LE(0)), Number(file.readBigInt64LE(8192))] as const;
	});
}

/** Opens the database of {@link DATABASE} as each snapshot and the present have it: it must be sound, and each transaction whole. */
export function expectSoundDatabases(rig: SessionRig, account: Account, ids: readonly number[], last: number): void {
	using out = temporaryDirectory();
	const counts = [...ids, 'now' as const].map((id) => {
		for (const name of ['db', 'db-wal']) {
			const content = fileAt(rig.cli, id, name);
			if (content !== null) out.write(`${id}/${name}`, content);
		}
		account.own(out.path);
		const sql =
			'pragma integrity_check; select count(*) from a; select count(*) from b; select max(n) from a; select max(n) from b';
		const ran = account.run(['sqlite3', join(out.path, `${id}/db`), sql]);
		expect(ran.stdout.split('\n')[0], `snapshot ${id}: ${ran.stderr}`).toBe('ok');
		return ran.stdout.trim().split('\n').slice(1).map(Number);
	});
	for (const [rowsOfA, rowsOfB, lastOfA, lastOfB] of counts) expect([rowsOfB, lastOfB]).toEqual([rowsOfA, lastOfA]);
	expect(counts.at(-1)?.[2]).toBe(last);
}
