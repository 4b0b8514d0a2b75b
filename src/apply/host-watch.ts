import type { Change } from '../base/change.ts';
import { sameTime } from '../base/inode.ts';
import type { Fingerprint, HostTree } from '../host/host-tree.ts';

/** Somebody changed a path of the host between the plan and the write. */
export class HostMoved extends Error {
	override readonly name = 'HostMoved';
	readonly path: string;

	constructor(path: string) {
		super(`${path} changed on the host`);
		this.path = path;
	}
}

/** Sees to it that what a change overwrites is still what was planned and saved. */
export class HostWatch {
	readonly #host: HostTree;
	readonly #changes: readonly Change[];
	/** Number of links counts: writing one name of an inode moves the ctime of the others. */
	readonly #isLinked: readonly boolean[];

	constructor(host: HostTree, changes: readonly Change[]) {
		this.#host = host;
		this.#changes = changes;
		this.#isLinked = changes.map(({ before }) => Number((before as { nlink?: unknown } | null)?.nlink ?? 1) > 1);
	}

	/** Called before each write for a change. Throws {@link HostMoved}. */
	check(index: number): void {
		const change = this.#changes[index];
		if (change === undefined) throw new Error(`there is no change ${index}`);
		const { path, before, after } = change;
		const now = this.#host.fingerprint(path);
		if (now === null) return;
		// A directory moves with what is written in it, and one that replaces something is ours once it is there.
		if (now.kind === 'directory' && (before?.kind === 'directory' || after?.kind === 'directory')) return;
		if (before === null || !isSame(now, before, this.#isLinked[index] === true)) throw new HostMoved(path);
	}
}

function isSame(now: Fingerprint, before: NonNullable<Change['before']>, isLinked: boolean): boolean {
	const ino = (before as { ino?: unknown }).ino;
	return (
		now.kind === before.kind &&
		now.size === before.size &&
		(ino === undefined || String(ino) === String(now.ino)) &&
		sameTime(now.mtime, before.mtime) &&
		(isLinked || sameTime(now.ctime, before.ctime))
	);
}
