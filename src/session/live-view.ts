import { readFileSync } from 'node:fs';
import { isWithin } from '../base/paths.ts';
import { PosixError } from '../base/posix-error.ts';
import { closeFd, openIn } from '../host/entries.ts';
import type { HostStat } from '../host/host-stat.ts';
import { HostTree } from '../host/host-tree.ts';
import { type Mount, readMounts, submountsBelow } from '../host/mount-info.ts';
import { openBeneath } from '../host/open-beneath.ts';
import { AT_FDCWD, O_DIRECTORY, O_PATH } from '../host/open-flags.ts';
import { openFiles } from '../sandbox/open-files.ts';

/**
 * A tree of a running sandbox as its processes see it, layer and base merged, to be written from outside. Nothing inside may
 * move meanwhile: names that are checked first are used after.
 */
export class LiveView implements Disposable {
	readonly tree: HostTree;
	readonly #init: number;
	readonly #seenAt: string;
	/** Places in it at which something else is mounted: a write there would go to the host, or uncover what is hidden. */
	readonly #covered: readonly string[];

	private constructor(init: number, seenAt: string, tree: HostTree, covered: readonly string[]) {
		this.#init = init;
		this.#seenAt = seenAt;
		this.tree = tree;
		this.#covered = covered;
	}

	/**
	 * Opens the tree that the sandbox of this first process shows at a path. Throws PosixError EXDEV when the overlay is not
	 * what is seen there: the path is the agent's, and a link in it would lead out of the sandbox.
	 */
	static open(init: number, seenAt: string): LiveView {
		const mounts = readMounts(init);
		const mount = mounts.findLast(({ point }) => point === seenAt);
		if (mount?.type !== 'overlay') throw new PosixError('EXDEV', 'open', seenAt);
		const fd = openInside(init, seenAt);
		try {
			if (mountIdOf(fd) !== mount.id) throw new PosixError('EXDEV', 'open', seenAt);
			return new LiveView(init, seenAt, HostTree.open(`/proc/self/fd/${fd}`, 'rw'), coveredBelow(seenAt, mounts));
		} finally {
			closeFd(fd);
		}
	}

	/** Whether a path, or what it lies in, is hidden by something that is mounted over it. */
	isCovered(path: string): boolean {
		return this.#covered.some((place) => isWithin(path, place));
	}

	/**
	 * Tells which files of the tree somebody inside has open; of all of them when that cannot be known. `joined` are processes
	 * that entered the sandbox from outside.
	 */
	whatIsOpen(joined: readonly number[]): (file: HostStat) => boolean {
		const { inodes, mapped, isComplete } = openFiles(this.#init, joined);
		if (!isComplete) return () => true;
		const open = new Set(inodes);
		for (const path of mapped) {
			const stat = isWithin(path, this.#seenAt) ? this.tree.statBare(below(this.#seenAt, path)) : null;
			if (stat !== null) open.add(`${stat.dev}:${stat.ino}`);
		}
		return ({ dev, ino }) => open.has(`${dev}:${ino}`);
	}

	[Symbol.dispose](): void {
		this.tree.close();
	}
}

function openInside(init: number, path: string): number {
	const root = openIn(AT_FDCWD, `/proc/${init}/root/.`, O_PATH | O_DIRECTORY);
	try {
		return openBeneath(root, path.slice(1), O_PATH | O_DIRECTORY);
	} finally {
		closeFd(root);
	}
}

/** proc_pid_fdinfo(5); the number is the one of mountinfo, whatever namespace the mount is in. */
function mountIdOf(fd: number): number {
	const id = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
	if (id === undefined) throw new Error(`no mount in /proc/self/fdinfo/${fd}`);
	return Number(id);
}

function coveredBelow(seenAt: string, mounts: readonly Mount[]): string[] {
	return submountsBelow(seenAt, mounts).map(({ point }) => below(seenAt, point));
}

function below(root: string, path: string): string {
	return path === root ? '' : path.slice(root === '/' ? 1 : root.length + 1);
}
