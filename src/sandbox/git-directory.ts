import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { decodeName, fsPath } from '../base/bytes.ts';
import { isWithin } from '../base/paths.ts';
import { errorCode } from '../base/posix-error.ts';
import { realPath } from './real-path.ts';

/**
 * The git directory of a project whose `.git` is a file, as in a worktree or a submodule, when it lies outside the project;
 * else null. Of a worktree it is the common directory, which holds refs and objects of all worktrees.
 *
 * The files that lead there may have been written by anyone, and what they name becomes visible and writable in the session:
 * so the place must look like a git directory, belong to this project by its own account, and lie in none of `forbidden`
 * (masked places, the store). gitrepository-layout(5), gitsubmodules(7).
 */
export function findGitDirectory(project: string, forbidden: readonly string[]): string | null {
	const named = readPointer(`${project}/.git`, /^gitdir: (.+)$/m, project);
	if (named === null) return null;
	const common = readPointer(`${named}/commondir`, /^(.+)$/m, named);
	const directory = common ?? named;
	if (isWithin(directory, project) || !looksLikeGit(directory) || isForbidden(directory, forbidden)) return null;
	const belongs = common === null ? isWorkTreeOf(project, named) : isWorktreeOf(project, named, common);
	return belongs ? directory : null;
}

function isForbidden(directory: string, forbidden: readonly string[]): boolean {
	return forbidden
		.flatMap((place) => [place, realPath(place)?.path ?? place])
		.some((place) => isWithin(directory, place) || isWithin(place, directory));
}

const LONGEST_POINTER_BYTES = 8192;

/** The directory that a small text file names, without symlinks; null when there is no such file or directory. */
function readPointer(path: string, pattern: RegExp, relativeTo: string): string | null {
	const name = pattern.exec(readSmallFile(path) ?? '')?.[1];
	if (name === undefined || name.includes('\0')) return null;
	const real = realPath(resolve(relativeTo, name));
	return real?.directory === true ? real.path : null;
}

/** Content of a regular file of a few kilobytes; null for anything else. Never waits, as opening a FIFO would. */
function readSmallFile(path: string): string | null {
	let fd: number;
	try {
		if (!lstatSync(fsPath(path)).isFile()) return null;
		fd = openSync(fsPath(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
	} catch (error) {
		if (errorCode(error) === null) throw error;
		return null;
	}
	try {
		if (!fstatSync(fd).isFile()) return null;
		const buffer = Buffer.alloc(LONGEST_POINTER_BYTES);
		return decodeName(buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, 0)));
	} finally {
		closeSync(fd);
	}
}

function looksLikeGit(directory: string): boolean {
	const stat = (name: string) => lstatSync(fsPath(`${directory}/${name}`), { throwIfNoEntry: false });
	const hasHead = stat('HEAD')?.isFile() === true || stat('HEAD')?.isSymbolicLink() === true;
	return hasHead && stat('objects')?.isDirectory() === true && stat('refs')?.isDirectory() === true;
}

/** A worktree's own directory lies in the common one and names the worktree's `.git` file. */
function isWorktreeOf(project: string, own: string, common: string): boolean {
	if (!isWithin(own, `${common}/worktrees`)) return false;
	const back = /^(.+)$/m.exec(readSmallFile(`${own}/gitdir`) ?? '')?.[1];
	if (back === undefined) return false;
	const path = resolve(own, back);
	return path.endsWith('/.git') && realPath(path.slice(0, -'/.git'.length))?.path === project;
}

/** A submodule's git directory names its work tree in its configuration; one made with --separate-git-dir names none. */
function isWorkTreeOf(project: string, directory: string): boolean {
	const named = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(readSmallFile(`${directory}/config`) ?? '')?.[1];
	return named === undefined || realPath(resolve(directory, named))?.path === project;
}
