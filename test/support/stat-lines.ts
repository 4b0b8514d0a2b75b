import { lstatSync, readdirSync } from 'node:fs';
import { decodeName, fsPath } from '../../src/base/bytes.ts';

/**
 * One line for each of the paths and everything below them that may be looked at: type and mode, owner, size, links, inode,
 * and the times of change. ctime cannot be set back, so nothing was written where two lists are equal; files are not read.
 */
export function statLines(paths: readonly string[], except: ReadonlySet<string> = new Set()): string[] {
	return paths.flatMap((path) => linesOf(path, except));
}

function linesOf(path: string, except: ReadonlySet<string>): string[] {
	const stat = except.has(path) ? undefined : attempt(() => lstatSync(fsPath(path), { bigint: true }));
	if (stat === undefined) return [];
	const { mode, uid, gid, size, nlink, ino, rdev, mtimeNs, ctimeNs } = stat;
	const line = [JSON.stringify(path), mode.toString(8), uid, gid, size, nlink, ino, rdev, mtimeNs, ctimeNs].join(' ');
	if (!stat.isDirectory()) return [line];
	const names = attempt(() => readdirSync(fsPath(path), { encoding: 'buffer' })) ?? [];
	const below = names.map((name) => `${path === '/' ? '' : path}/${decodeName(name)}`).sort();
	return [line, ...below.flatMap((name) => linesOf(name, except))];
}

function attempt<T>(look: () => T): T | undefined {
	try {
		return look();
	} catch (error) {
		if (['ENOENT', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
		throw error;
	}
}
