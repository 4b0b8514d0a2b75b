import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { presentAccount } from '../support/accounts.ts';
import { type SessionRig, sessionRig } from '../support/session-rig.ts';

/** A system call that succeeded: `name(5</the/path>, …)`, or names in quotes. */
interface Call {
	readonly name: string;
	/** Path of the descriptor that comes first, or the last name. */
	readonly path: string;
	readonly text: string;
}

const CALLS = 'write,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,link,linkat,mkdir,openat,exit_group';

/** The calls of a command line's own process, in order. */
function callsOf(rig: SessionRig, args: readonly string[]): Call[] {
	const trace = join(rig.place, 'trace');
	const { account, cli } = rig;
	const strace = ['strace', '-y', '-s', '64', '-e', `trace=${CALLS}`, '-o', trace, process.execPath, cli.program];
	const ran = account.run([...strace, ...args], {
		cwd: rig.project,
		env: { HOME: cli.account.home, DROPCLOTH_HOME: cli.storePath },
	});
	if (ran.code !== 0) throw new Error(`${args.join(' ')} ended with ${ran.code}: ${ran.stderr}`);
	return readFileSync(trace, 'utf8')
		.split('\n')
		.flatMap((text) => {
			const name = /^(\w+)\(/.exec(text)?.[1];
			if (name === undefined || / = -1 /.test(text)) return [];
			const path = /^\w+\(\d+<([^>]*)>/.exec(text)?.[1] ?? [...text.matchAll(/"([^"]*)"/g)].at(-1)?.[1] ?? '';
			return [{ name, path, text }];
		});
}

const isWrite = ({ name, path }: Call) =>
	(name === 'pwrite64' || name === 'ftruncate') && /session\.db(-wal)?$/.test(path);
const syncs = (path: string) => (call: Call) =>
	(call.name === 'fsync' || call.name === 'fdatasync') && call.path === path;

/** What was written to the session's file before `end` and not synced after that, up to `end`. */
function unsynced(calls: readonly Call[], end: number): string[] {
	const before = calls.slice(0, end);
	return before.flatMap((call, at) => {
		// emptying the -wal comes after the database file is on disk: if it is not done, the same is written once more
		if (!isWrite(call) || call.name === 'ftruncate') return [];
		return before.slice(at).some(syncs(call.path)) ? [] : [call.text];
	});
}

/** Where the first commit's -wal is synced, and where the database file is first written. */
function order(calls: readonly Call[], database: string): { walSynced: number; folded: number } {
	return {
		walSynced: calls.findIndex(syncs(`${database}-wal`)),
		folded: calls.findIndex((call) => isWrite(call) && call.path === database),
	};
}

const databaseOf = ({ cli }: SessionRig) => join(cli.storePath, 'sessions/project/session.db');

test('a snapshot is on disk before it is reported', () => {
	using rig = sessionRig(presentAccount());
	rig.inside('echo 1 > one');
	const calls = callsOf(rig, ['snap', 'project', 'tag']);
	const reported = calls.findIndex(({ name, text }) => name === 'write' && text.includes('took snapshot'));
	expect(reported).toBeGreaterThan(0);
	expect(calls.slice(0, reported).filter(isWrite).length).toBeGreaterThan(3);
	expect(unsynced(calls, reported)).toEqual([]);
	const { walSynced, folded } = order(calls, databaseOf(rig));
	expect(walSynced).toBeGreaterThan(0);
	expect(folded).toBeGreaterThan(walSynced);
	expect(calls.slice(reported).filter(isWrite)).toEqual([]);
});

test('what a run did is on disk before it ends', () => {
	using rig = sessionRig(presentAccount());
	rig.inside('echo 1 > one');
	const calls = callsOf(rig, ['quick', '.', '--', 'sh', '-c', 'seq 100000 > two']);
	const ended = calls.findIndex(({ name }) => name === 'exit_group');
	expect(calls.slice(0, ended).filter(isWrite).length).toBeGreaterThan(10);
	expect(unsynced(calls, ended)).toEqual([]);
});

test('the names of a new session are on disk before it is reported', () => {
	using rig = sessionRig(presentAccount());
	const calls = callsOf(rig, ['init', 'project', '--base', '.']);
	const reported = calls.findIndex(({ name, path }) => name === 'write' && !path.startsWith(rig.place));
	const database = databaseOf(rig);
	const named = calls.findIndex(({ name, path }) => name.startsWith('rename') && path === database);
	expect(unsynced(calls, calls.length)).toEqual([]);
	expect(named).toBeGreaterThan(0);
	const until = reported < named ? calls.length : reported;
	expect(calls.slice(named, until).some(syncs(join(database, '..')))).toBe(true);
	for (const { path } of calls.filter(({ name }) => name === 'mkdir')) {
		if (!path.startsWith(rig.place)) continue;
		const made = calls.findIndex((call) => call.name === 'mkdir' && call.path === path);
		expect(calls.slice(made).some(syncs(join(path, '..'))), path).toBe(true);
	}
});

test('the name of a -wal that is made anew is on disk with its commit', () => {
	using rig = sessionRig(presentAccount());
	rig.inside('echo 1 > one');
	const database = databaseOf(rig);
	const calls = callsOf(rig, ['snap', 'project']);
	const made = calls.findIndex(
		({ name, text }) => name === 'openat' && text.includes('-wal"') && text.includes('O_CREAT'),
	);
	const folded = calls.findIndex((call) => isWrite(call) && call.path === database);
	expect(made).toBeGreaterThan(0);
	expect(calls.slice(made, folded).some(syncs(join(database, '..')))).toBe(true);
});
