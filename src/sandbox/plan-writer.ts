/** One operation of the launcher: its name and its words. */
export type Operation = readonly string[];

/** What `--show-binds` says of one mount. */
export interface PlannedMount {
	/** Where it is seen inside. */
	readonly path: string;
	/** What is mounted there: a host path, or the kind of a fresh filesystem. */
	readonly source: string;
	readonly kind: 'overlay' | 'bind' | 'read-only bind' | 'fresh' | 'mask';
	readonly reason: string;
}

/** What the launcher does, in order, and what it means to a person. */
export interface Plan {
	readonly operations: readonly Operation[];
	readonly mounts: readonly PlannedMount[];
}

/** A mount that was made and not attached yet, by the number the launcher keeps it under. */
export type Slot = number;

/** Recursive or only the mount itself. */
export type Reach = 'one' | 'rec';

/** Mount attributes as the launcher spells them, comma separated: ro, nosuid, nodev, noexec. */
export type Attributes = string;

/** Collects the operations of a plan; each method is one operation of the launcher. */
export class PlanWriter {
	readonly operations: Operation[] = [];
	readonly mounts: PlannedMount[] = [];
	#slots = 0;

	/** Any operation that makes no mount. */
	do(name: string, ...words: readonly (string | number)[]): void {
		this.operations.push([name, ...words.map(String)]);
	}

	overlay(upper: string, work: string, lowers: readonly string[]): Slot {
		const slot = this.#slots++;
		// userxattr for root as well: a layer must be readable to whoever resumes it.
		this.do('overlay', slot, 'userxattr', upper, work, 'nosuid,nodev', lowers.length, ...lowers);
		return slot;
	}

	/** A detached copy of what is mounted at a host path. */
	tree(path: string, attributes: Attributes, reach: Reach): Slot {
		const slot = this.#slots++;
		this.do('tree', slot, path, reach);
		if (attributes !== '') this.do('attr', slot, attributes, reach);
		return slot;
	}

	/** A fresh filesystem at a place that exists. */
	fresh(path: string, type: string, options: string, attributes: Attributes, reason: string): void {
		const slot = this.#slots++;
		this.do('fs', slot, type, options, attributes);
		this.attach(slot, { path, source: type, kind: 'fresh', reason });
	}

	attach(slot: Slot, mount: PlannedMount): void {
		this.do('attach', slot, mount.path);
		this.mounts.push(mount);
	}

	/** The same where a place of its kind is found: the session may have taken it away. */
	offer(slot: Slot, mount: PlannedMount): void {
		this.do('offer', slot, mount.path);
		this.mounts.push(mount);
	}

	/** Mounts a path of the view over another one. */
	bindFrom(source: string, attributes: Attributes, reach: Reach, mount: PlannedMount): void {
		this.do('bind-from', source, mount.path, attributes, reach);
		this.mounts.push(mount);
	}

	/** A link in a fresh filesystem, with the directories that it lies in, from the mount point down. */
	link(top: string, path: string, target: string): void {
		const parent = path.slice(0, path.lastIndexOf('/'));
		if (parent !== top) this.makePlace(top, parent, true);
		this.do('symlink', target, path);
	}

	/** Hides what is at a path of the view, if anything is. */
	mask(emptyDirectory: string, emptyFile: string, path: string, reason: string): void {
		this.do('mask', emptyDirectory, emptyFile, path);
		this.mounts.push({ path, source: 'empty', kind: 'mask', reason });
	}

	/** Makes every directory from a fresh filesystem's mount point down to a place, and the place itself. */
	makePlace(top: string, place: string, directory: boolean): void {
		const parts = place.slice(top === '/' ? 1 : top.length + 1).split('/');
		let path = top === '/' ? '' : top;
		parts.forEach((part, index) => {
			path += `/${part}`;
			if (directory || index < parts.length - 1) this.do('mkdir', path, DIRECTORY_MODE);
			else this.do('file', path, FILE_MODE);
		});
	}
}

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;
