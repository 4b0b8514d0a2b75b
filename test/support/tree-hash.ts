import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	type BigIntStats,
	closeSync,
	constants,
	fstatSync,
	lstatSync,
	openSync,
	readdirSync,
	readlinkSync,
	readSync,
} from 'node:fs';
import { decodeName, encodeName } from '../../src/base/bytes.ts';

/** What of a tree a test does not hold against it. */
export interface TreeHashOptions {
	/** Absolute paths that are left out with everything below them. */
	readonly except?: readonly string[];
	/** Owners are left out: for comparing with a copy that another user made. */
	readonly anyOwner?: boolean;
	/** Times of directories are left out: for comparing with a copy. */
	readonly anyDirectoryTimes?: boolean;
}

/**
 * One line per path below `root`: path, type, mode, owner, size, mtime in ns, device number, link target, hash of the content, xattrs, and
 * the first path of the same inode. Two lists are equal when nobody can tell the trees apart; a test compares the lists, so
 * that a difference names its path. No path's access time is changed (O_NOATIME where it is allowed), nothing but regular files is opened.
 */
export function treeLines(root: string, options: TreeHashOptions = {}): string[] {
	const paths = walk(root, '', new Set(options.except ?? []));
	const xattrs = xattrsBelow(root);
	const firstNames = new Map<bigint, string>();
	return paths.map(({ path, stat }) => {
		const first = stat.nlink > 1n && !stat.isDirectory() ? (firstNames.get(stat.ino) ?? path) : '';
		if (first === path) firstNames.set(stat.ino, path);
		const times = stat.isDirectory() && options.anyDirectoryTimes === true ? '' : stat.mtimeNs;
		const owner = options.anyOwner === true ? '' : `${stat.uid}:${stat.gid}`;
		const size = stat.isDirectory() ? '' : stat.size;
		return [
			JSON.stringify(path),
			stat.mode.toString(8),
			owner,
			size,
			times,
			stat.rdev,
			contentOf(absolute(root, path), stat),
			xattrs.get(path) ?? '',
			JSON.stringify(first),
		].join(' ');
	});
}

/** SHA-256 of {@link treeLines}, in hex: for logs, and for trees too large to show. */
export function treeHash(root: string, options: TreeHashOptions = {}): string {
	return createHash('sha256').update(treeLines(root, options).join('\n')).digest('hex');
}

interface Found {
	readonly path: string;
	readonly stat: BigIntStats;
}

function walk(root: string, path: string, except: ReadonlySet<string>): Found[] {
	const here = absolute(root, path);
	if (except.has(decodeName(here))) return [];
	const stat = lstatSync(here, { bigint: true });
	const found = { path, stat };
	if (!stat.isDirectory()) return [found];
	const names = readdirSync(here, { encoding: 'buffer' }).map(decodeName).sort();
	return [found, ...names.flatMap((name) => walk(root, path === '' ? name : `${path}/${name}`, except))];
}

function absolute(root: string, path: string): Buffer {
	return encodeName(path === '' ? root : `${root}/${path}`);
}

function contentOf(path: Buffer, stat: BigIntStats): string {
	if (stat.isSymbolicLink()) return JSON.stringify(decodeName(readlinkSync(path, { encoding: 'buffer' })));
	return stat.isFile() ? hashOfFile(path) : '';
}

function hashOfFile(path: Buffer): string {
	const descriptor = openWithoutTrace(path);
	try {
		if (!fstatSync(descriptor).isFile()) throw new Error(`${decodeName(path)} changed while it was hashed`);
		const hash = createHash('sha256');
		const piece = Buffer.allocUnsafe(1 << 20);
		for (let length = 1; length > 0; ) {
			length = readSync(descriptor, piece, 0, piece.length, null);
			hash.update(piece.subarray(0, length));
		}
		return hash.digest('hex');
	} finally {
		closeSync(descriptor);
	}
}

/** O_NOATIME is the owner's and root's right; for others relatime decides. */
function openWithoutTrace(path: Buffer): number {
	const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
	try {
		return openSync(path, flags | constants.O_NOATIME);
	} catch {
		return openSync(path, flags);
	}
}

/** Extended attributes by path, as getfattr prints them in hex; one process for the whole tree. */
function xattrsBelow(root: string): Map<string, string> {
	const args = ['-R', '-P', '-h', '-d', '-m', '-', '-e', 'hex', '--', '.'];
	const dump = execFileSync('getfattr', args, { cwd: root, maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'ignore'] });
	const blocks = dump
		.toString('latin1')
		.split('\n\n')
		.filter((block) => block.startsWith('# file: '));
	return new Map(blocks.map(xattrBlock));
}

/** "# file: NAME", then one line per attribute. Bytes of a name outside printable ASCII are octal escapes. */
function xattrBlock(block: string): [path: string, xattrs: string] {
	const [head, ...lines] = block.split('\n');
	const escaped = (head as string).slice('# file: '.length);
	const bytes = escaped.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
	const path = decodeName(Buffer.from(bytes, 'latin1'));
	return [
		path === '.' ? '' : path,
		lines
			.filter((line) => line !== '')
			.sort()
			.join(','),
	];
}
