import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';

/** A file or directory whose owner lacks permission on it, and whose mode we widen for as long as we need it. */
export interface UnlockedMode {
	/** Below the upper directory. */
	readonly path: string;
	/** Inode number on the host, in decimal. */
	readonly ino: string;
	/** The permission bits that it is to get back. */
	readonly mode: number;
}

/**
 * Modes that are widened at this moment, kept beside the upper directory, so that a scan that was killed leaves no file
 * with another mode than its owner gave it: the next one puts them back first.
 */
export class UnlockedModes {
	readonly #file: string;
	readonly #modes: UnlockedMode[] = [];

	constructor(upperPath: string) {
		this.#file = `${upperPath}.unlocked`;
	}

	/** What a killed scan left widened, the deepest last. */
	left(): UnlockedMode[] {
		try {
			return JSON.parse(readFileSync(fsPath(this.#file), 'utf8')) as UnlockedMode[];
		} catch (error) {
			if (errorCode(error) === 'ENOENT') return [];
			throw error;
		}
	}

	/** Notes a mode that is about to be widened. */
	add(mode: UnlockedMode): void {
		this.#modes.push(mode);
		this.#write();
	}

	/** Strikes out the mode noted last: it is as it was. */
	dropLast(): void {
		this.#modes.pop();
		this.#write();
	}

	/** Says that nothing is widened. */
	forget(): void {
		this.#modes.length = 0;
		rmSync(fsPath(this.#file), { force: true });
	}

	#write(): void {
		if (this.#modes.length === 0) {
			this.forget();
			return;
		}
		const temporary = `${this.#file}.new`;
		writeFileSync(fsPath(temporary), JSON.stringify(this.#modes), { mode: 0o600 });
		renameSync(fsPath(temporary), fsPath(this.#file));
	}
}
