import {
	appendFileSync,
	chmodSync,
	closeSync,
	ftruncateSync,
	linkSync,
	lstatSync,
	lutimesSync,
	mkdirSync,
	openSync,
	readdirSync,
	renameSync,
	rmSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
	writeSync,
} from 'node:fs';
import fc from 'fast-check';
import { decodeName, encodeName } from '../../src/base/bytes.ts';
import type { Kind } from '../../src/base/inode.ts';
import { isWithin, joinPath } from '../../src/base/paths.ts';
import { errorCode } from '../../src/base/posix-error.ts';
import { closeFd, makeNodeIn, openIn } from '../../src/host/entries.ts';
import { AT_FDCWD, O_DIRECTORY, O_PATH } from '../../src/host/open-flags.ts';
import { removeXattr, setXattr } from '../../src/host/xattr.ts';

/** One random step in a real upper directory; its numbers are read against what it meets, so that it shrinks. */
export interface UpperStep {
	readonly what: (typeof STEPS)[number];
	readonly where: number;
	readonly name: number;
	readonly value: number;
}

const STEPS = [
	'file',
	'file',
	'directory',
	'directory',
	'opaque',
	'symlink',
	'fifo',
	'socket',
	'whiteout',
	'whiteout',
	'remove',
	'rename',
	'rename',
	'link',
	'append',
	'rewrite',
	'truncate',
	'mode',
	'time',
	'xattr',
] as const;
const NAMES = ['a', 'b', 'c', 'e', 'd\udcff', 'quote" \\,\n:', 'ü'];
const MODES = [0o644, 0o000, 0o755, 0o4711, 0o1777, 0o200, 0o400, 0o100];

export const upperStep: fc.Arbitrary<UpperStep> = fc.record({
	what: fc.constantFrom(...STEPS),
	where: fc.nat(1000),
	name: fc.nat(NAMES.length - 1),
	value: fc.nat(20),
});

/** A path of an upper directory, as it is on disk. */
export interface UpperPath {
	readonly path: string;
	readonly kind: Exclude<Kind, 'whiteout'>;
}

/** Every path below an upper directory; only root sees those below a directory of mode 000. */
export function upperPaths(root: string, path = ''): UpperPath[] {
	const stat = lstatSync(absolute(root, path));
	const kind = kindOf(stat);
	if (kind !== 'directory') return [{ path, kind }];
	const names = readdirSync(absolute(root, path), { encoding: 'buffer' }).map(decodeName).sort();
	return [{ path, kind }, ...names.flatMap((name) => upperPaths(root, joinPath(path, name)))];
}

/** Plays a step. What the kernel does not allow this user is not done. */
export function playUpperStep(root: string, known: readonly UpperPath[], step: UpperStep): void {
	try {
		play(root, known, step);
	} catch (error) {
		const code = errorCode(error);
		if (code === 'EACCES' || code === 'EPERM' || code === 'EEXIST') return;
		throw error;
	}
}

function play(root: string, known: readonly UpperPath[], { what, where, name, value }: UpperStep): void {
	const of = (...kinds: UpperPath['kind'][]) => known.filter(({ kind }) => kinds.includes(kind));
	const directory = pick(of('directory'), where)?.path ?? '';
	const path = joinPath(directory, NAMES[name] as string);
	const file = pick(of('file'), where + value)?.path;
	const other = pick(known.slice(1), where + value)?.path;
	const at = absolute(root, path);
	if (what === 'file') writeFile(at, value);
	else if (what === 'directory' || what === 'opaque') {
		mkdirSync(at, { mode: 0o700 + value });
		if (what === 'opaque') setXattr(`${root}/${path}`, 'user.overlay.opaque', Buffer.from('y'));
	} else if (what === 'symlink') symlinkSync(`t${value}`, at);
	else if (what === 'fifo' || what === 'socket') makeNode(root, directory, NAMES[name] as string, what);
	else if (what === 'whiteout') {
		const whiteout = pick(of('char'), where)?.path;
		if (whiteout !== undefined && value % 2 === 0) linkSync(absolute(root, whiteout), at);
		else makeNode(root, directory, NAMES[name] as string, 'char');
	} else if (what === 'remove') {
		if (other !== undefined) rmSync(absolute(root, other), { recursive: true });
	} else if (what === 'rename') {
		if (other === undefined || isWithin(path, other) || isWithin(other, path)) return;
		rmSync(at, { recursive: true, force: true });
		renameSync(absolute(root, other), at);
	} else if (what === 'link') {
		if (file !== undefined) linkSync(absolute(root, file), at);
	} else if (what === 'append') {
		if (file !== undefined) appendFileSync(absolute(root, file), `+${value}`);
	} else if (what === 'rewrite') {
		if (file !== undefined) rewriteUnseen(absolute(root, file), value);
	} else if (what === 'truncate') {
		if (file !== undefined) truncateSync(absolute(root, file), value * 10_000);
	} else if (other !== undefined) changeMetadata(root, other, what, value);
}

function changeMetadata(root: string, path: string, what: 'mode' | 'time' | 'xattr', value: number): void {
	const at = absolute(root, path);
	const kind = kindOf(lstatSync(at));
	if (what === 'time') lutimesSync(at, value, 1_600_000_000 + value / 7);
	else if (kind === 'symlink' || kind === 'char') return;
	else if (what === 'mode') chmodSync(at, MODES[value % MODES.length] as number);
	else if (kind === 'file' || kind === 'directory') {
		const name = value % 2 === 0 ? 'user.k' : 'user.overlay.overlay.opaque';
		if (value < 5) removeXattr(`${root}/${path}`, name);
		else setXattr(`${root}/${path}`, name, Buffer.from(`v${value}`));
	}
}

/** Empty, short, of several pieces, or with holes. */
function writeFile(at: Buffer, value: number): void {
	const fd = openSync(at, 'wx', 0o640);
	try {
		if (value % 5 === 1) writeSync(fd, `content ${value}`);
		else if (value % 5 === 2) writeSync(fd, Buffer.alloc(65_536 + value, value));
		else if (value % 5 === 3) writeSync(fd, `late ${value}`, 200_000);
		if (value % 5 > 2) ftruncateSync(fd, 300_000 + value);
	} finally {
		closeSync(fd);
	}
}

/** Other bytes of the same length, and the old mtime put back. */
function rewriteUnseen(at: Buffer, value: number): void {
	const { size, atime, mtime } = lstatSync(at);
	if (size === 0) return;
	writeFileSync(at, Buffer.alloc(Math.min(size, 9), 65 + value), { flag: 'r+' });
	lutimesSync(at, atime, mtime);
}

function makeNode(root: string, directory: string, name: string, kind: 'fifo' | 'socket' | 'char'): void {
	const fd = openIn(AT_FDCWD, directory === '' ? root : `${root}/${directory}`, O_PATH | O_DIRECTORY);
	try {
		makeNodeIn(fd, name, kind, kind === 'char' ? 0 : 0o640);
	} finally {
		closeFd(fd);
	}
}

function kindOf(stat: ReturnType<typeof lstatSync>): UpperPath['kind'] {
	if (stat === undefined) throw new Error('a path vanished');
	if (stat.isDirectory()) return 'directory';
	if (stat.isFile()) return 'file';
	if (stat.isSymbolicLink()) return 'symlink';
	if (stat.isFIFO()) return 'fifo';
	return stat.isSocket() ? 'socket' : 'char';
}

function absolute(root: string, path: string): Buffer {
	return encodeName(path === '' ? root : `${root}/${path}`);
}

function pick<T>(pool: readonly T[], number: number): T | undefined {
	return pool[number % Math.max(pool.length, 1)];
}
