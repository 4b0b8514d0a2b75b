import { realpathSync, statSync } from 'node:fs';
import { decodeName, fsPath } from '../base/bytes.ts';
import { isWithin } from '../base/paths.ts';
import { errorCode } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import { realPath, realPathOfNew } from '../sandbox/real-path.ts';

/** Made anew for every run, so that no layer can lie over them. */
const SYSTEM_PLACES = ['/proc', '/sys', '/dev'];

/**
 * Checks a directory that is to become a base and returns its real path. Throws Refusal 'failed' when it is missing or no
 * directory, and when it is a bad idea: `/`, the home directory or a parent of it, or a directory that holds the store.
 */
export function checkBase(
	path: string,
	{ home, storePath, force }: { home: string; storePath: string; force: boolean },
): string {
	const real = realDirectory(path);
	if (isWithin(real, realPathOfNew(storePath))) {
		throw new Refusal('failed', 'base-in-store', `${real} lies in the store ${storePath}`, {
			hint: 'choose another directory',
		});
	}
	const system = SYSTEM_PLACES.find((place) => isWithin(real, place) && !isWithin(real, '/dev/shm'));
	if (real === '/' || system !== undefined) {
		throw new Refusal('failed', 'base-refused', `${real} is ${real === '/' ? 'the whole machine' : `in ${system}`}`, {
			hint: 'choose the project’s own directory',
		});
	}
	if (isWithin(realPath(home)?.path ?? home, real) && !force) {
		throw new Refusal('failed', 'base-too-wide', `${real} is your home directory or above it`, {
			hint: 'choose the project’s own directory, or give --force',
		});
	}
	return real;
}

/** The real path of a directory. Throws Refusal 'failed' when there is none. */
export function realDirectory(path: string): string {
	try {
		const real = realpathSync.native(fsPath(path), { encoding: 'buffer' });
		if (statSync(real).isDirectory()) return decodeName(real);
	} catch (error) {
		throw notReached(path, error);
	}
	throw notADirectory(path, null);
}

/**
 * Checks that a session's base is still the directory that it was attached to. Throws Refusal 'failed' when it is gone,
 * 'drifted' when its path leads elsewhere now: a symlink in its place must not redirect a run or an apply.
 */
export function checkBaseInPlace(basePath: string): void {
	const real = stillThere(basePath);
	if (real === basePath) return;
	throw new Refusal('drifted', 'base-redirected', `the base ${basePath} leads to ${real} now`, {
		hint: 'put the directory back, or say with `dropcloth attach SESSION DIR` where it is',
	});
}

function stillThere(basePath: string): string {
	try {
		return realDirectory(basePath);
	} catch (error) {
		throw error instanceof Refusal ? baseGone(error) : error;
	}
}

function baseGone(cause: Refusal): Refusal {
	const hint = 'put the directory back, or say with `dropcloth attach SESSION DIR` where it is';
	return new Refusal(cause.kind, cause.code, cause.message, { hint, cause });
}

function notReached(path: string, cause: unknown): unknown {
	const code = errorCode(cause);
	if (code === 'ENOTDIR') return notADirectory(path, cause);
	if (code !== 'ENOENT') return cause;
	return new Refusal('failed', 'no-such-directory', `there is no directory ${path}`, { cause });
}

function notADirectory(path: string, cause: unknown): Refusal {
	const hint = 'give the project’s directory';
	return new Refusal('failed', 'not-a-directory', `${path} is not a directory`, { hint, cause });
}
