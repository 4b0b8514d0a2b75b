import { geteuid } from 'node:process';
import { errorCode } from '../base/posix-error.ts';
import type { ApplyOptions } from './apply-options.ts';
import { crashPoint } from './crash-point.ts';
import { DirectoryHandles } from './directory-handles.ts';
import { openIn } from './entries.ts';
import { statOf } from './host-stat.ts';
import { InodeHandle } from './inode-handle.ts';
import { checked, libc } from './libc.ts';
import { O_DIRECTORY, O_RDONLY } from './open-flags.ts';
import type { Placement, PlannedChange } from './plan-changes.ts';
import { pathIn, readDirectoryOf, readInodeIn } from './read-inode.ts';
import { type CurrentMetadata, setMetadata } from './set-metadata.ts';
import { getXattr } from './xattr.ts';

/** One application of changes to a tree: its open directories, and what is to be put right in them at the end. */
export class ApplyRun {
	readonly options: ApplyOptions;
	readonly directories: DirectoryHandles;
	/** The name that files have until they are complete. */
	readonly temporary: string;
	/** Directories that we made, and that therefore hold no more than we put there. */
	readonly #made = new Set<string>();
	/** Directories that we opened up, and the modes that they are to get back. */
	readonly #unlocked: Map<string, number>;
	/** Directories in which names came or went. */
	readonly #touched = new Set<string>();
	/** Whether what is made in a directory gets an ACL from it. */
	readonly #handsDownAcl = new Map<string, boolean>();

	constructor(root: number, options: ApplyOptions) {
		this.options = options;
		this.temporary = `.dropcloth-${options.token ?? 'apply'}`;
		this.#unlocked = new Map(options.relock);
		this.directories = new DirectoryHandles(root, (path, directory) => this.#unlock(path, directory));
		for (const path of this.#unlocked.keys()) if (!this.#isThere(path)) this.#unlocked.delete(path);
	}

	/** To be called before each write to the tree. */
	step(planned: PlannedChange): void {
		crashPoint('apply');
		this.options.step?.(planned.index);
		this.#touched.add(planned.parent);
	}

	/** A directory has been made. */
	made(placement: Placement): void {
		this.#made.add(placement.path);
	}

	/** A directory, and with it all below, is about to go. */
	forget(path: string): void {
		this.directories.forget(path);
		this.#unlocked.delete(path);
		this.#touched.delete(path);
		this.#handsDownAcl.delete(path);
	}

	/** What an inode just made has without having been given it; null when that is nothing. */
	inherited(parent: string, directory: number, name: string): CurrentMetadata | null {
		return this.#inherits(parent, directory) ? readInodeIn(directory, name) : null;
	}

	/** Gives the directories their owners, attributes, modes and times, and those that were opened up their modes again. */
	finishDirectories(placements: readonly Placement[]): void {
		const listed = new Map(placements.map((placement) => [placement.path, placement]));
		const paths = new Set([...listed.keys(), ...this.#unlocked.keys()]);
		if (this.options.durable) for (const path of this.#touched) paths.add(path);
		for (const path of [...paths].sort().reverse()) this.#finishDirectory(path, listed.get(path));
	}

	/** After a failure: the directories that were opened up get their modes back. */
	relockAfter(failure: unknown): void {
		for (const path of [...this.#unlocked.keys()].sort().reverse()) {
			try {
				this.#relock(path, new InodeHandle(this.directories.at(path), true));
			} catch (error) {
				throw new Error(`after ${failure}: the mode of ${path} could not be put back`, { cause: error });
			}
		}
	}

	close(): void {
		this.directories.close();
	}

	/** An ordinary user cannot work in a directory that it denies itself; root, and who is not its owner, need not try. */
	#unlock(path: string, directory: number): void {
		const user = geteuid?.();
		if (user === 0) return;
		const { mode, uid } = statOf(directory);
		if (uid !== user || (mode & OWNER_ALL) === OWNER_ALL) return;
		if (!this.#unlocked.has(path)) {
			this.options.onUnlock?.(path, mode);
			this.#unlocked.set(path, mode);
		}
		new InodeHandle(directory, true).chmod(mode | OWNER_ALL);
	}

	/** A directory that an earlier run opened up may have been removed by it. */
	#isThere(path: string): boolean {
		try {
			this.directories.at(path);
			return true;
		} catch (error) {
			const code = errorCode(error);
			if (code === 'ENOENT' || code === 'ENOTDIR') return false;
			throw error;
		}
	}

	#finishDirectory(path: string, placement: Placement | undefined): void {
		const directory = this.directories.at(path);
		const isDurable = this.options.durable;
		const handle = isDurable
			? new InodeHandle(openIn(directory, '.', O_RDONLY | O_DIRECTORY), false)
			: new InodeHandle(directory, true);
		try {
			if (placement === undefined) this.#relock(path, handle);
			else this.#complete(placement, handle);
			if (isDurable) checked(libc().fsync(handle.fd), 'fsync', path);
		} finally {
			if (isDurable) handle.close();
		}
	}

	#complete(placement: Placement, handle: InodeHandle): void {
		crashPoint('apply');
		this.options.step?.(placement.index);
		const { path, parent, after } = placement;
		const isNew = this.#made.has(path) && !this.#handsDownAcl.get(parent);
		setMetadata(handle, after, isNew ? null : readDirectoryOf(handle.fd), path, this.options);
		this.#unlocked.delete(path);
	}

	#relock(path: string, handle: InodeHandle): void {
		const mode = this.#unlocked.get(path);
		if (mode === undefined) return;
		handle.chmod(mode);
		this.#unlocked.delete(path);
	}

	#inherits(parent: string, directory: number): boolean {
		const known = this.#handsDownAcl.get(parent);
		if (known !== undefined) return known;
		const inherits = getXattr(pathIn(directory, ''), 'system.posix_acl_default') !== null;
		this.#handsDownAcl.set(parent, inherits);
		return inherits;
	}
}

const OWNER_ALL = 0o700;
