import { chownSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { errorCode } from '../../src/base/posix-error.ts';
import type { Account } from './accounts.ts';
import { until } from './until.ts';

const ROOTS = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'];

/** Where the hierarchy of version 2 is mounted, when this process may make groups in it; else null. */
export function groupHierarchy(): string | null {
	const root = ROOTS.find((path) => existsSync(`${path}/cgroup.procs`));
	return process.getuid?.() === 0 && root !== undefined ? root : null;
}

/**
 * A control group of an account, as a service manager delegates one: what this process starts meanwhile lies beside it in a
 * group with the same parent, and may be moved. To be disposed of when all that was started has ended.
 */
export class DelegatedGroup implements AsyncDisposable {
	/** The group that a sandbox may use. */
	readonly path: string;
	readonly #parent: string;
	readonly #callers: string;
	readonly #before: string;

	constructor(root: string, account: Account) {
		this.#before = `${root}${/^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]}`;
		this.#parent = `${root}/dropcloth-test-${process.pid}`;
		this.#callers = `${this.#parent}/callers`;
		this.path = `${this.#parent}/sandbox`;
		for (const path of [this.#parent, this.#callers, this.path]) mkdirSync(path);
		for (const path of [this.#parent, this.path])
			for (const file of ['', '/cgroup.procs', '/cgroup.freeze']) chownSync(`${path}${file}`, account.uid, account.gid);
		writeFileSync(`${this.#callers}/cgroup.procs`, String(process.pid));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		writeFileSync(`${this.#before}/cgroup.procs`, String(process.pid));
		for (const path of [this.path, this.#callers, this.#parent]) {
			await until(`${path} without processes`, () => isRemoved(path));
		}
	}
}

/** A group whose last process is just ending cannot be removed yet. */
function isRemoved(path: string): boolean {
	try {
		rmdirSync(path);
		return true;
	} catch (error) {
		if (errorCode(error) !== 'EBUSY') throw error;
		return false;
	}
}
