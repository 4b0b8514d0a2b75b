import { createHash } from 'node:crypto';
import {
	closeSync,
	constants,
	fdatasyncSync,
	fsyncSync,
	ftruncateSync,
	openSync,
	readFileSync,
	unlinkSync,
	writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';
import { crashPoint } from './crash-point.ts';

/** What JSON can hold. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A piece of work that was begun and not committed. */
export interface JournalRecord {
	readonly kind: string;
	readonly data: JsonValue;
	/** In the order they were written. */
	readonly steps: readonly JsonValue[];
}

/**
 * A file that says what is being done until it is done, so that whoever comes after a crash can finish it or take it back.
 * One line per entry: the first 16 hex digits of the SHA-256 of its JSON, a space, the JSON. A line that was cut short
 * by the crash does not match and ends the journal. Throws node:fs errors.
 */
export class Journal {
	readonly path: string;
	readonly #fd: number;
	/** Where the next line goes. */
	#end: number;
	#begun: boolean;

	/** Opens the journal, made when it is missing; one with work in it goes on after its last whole line. */
	static open(path: string): Journal {
		const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
		const fd = openSync(fsPath(path), flags, 0o600);
		const { entries, wholeBytes } = parse(readFileSync(fd));
		ftruncateSync(fd, wholeBytes);
		return new Journal(path, fd, wholeBytes, entries.length > 0);
	}

	/** The unfinished work that a journal holds; null when there is none: no file, nothing begun, or committed. */
	static read(path: string): JournalRecord | null {
		const bytes = readIfThere(path);
		if (bytes === null) return null;
		const [first, ...rest] = parse(bytes).entries;
		if (first === undefined || !('begin' in first) || rest.some((entry) => 'commit' in entry)) return null;
		const steps = rest.map((entry) => ('step' in entry ? entry.step : null));
		return { kind: first.begin, data: first.data, steps };
	}

	private constructor(path: string, fd: number, end: number, begun: boolean) {
		this.path = path;
		this.#fd = fd;
		this.#end = end;
		this.#begun = begun;
	}

	/** Says what is about to be done. On disk, file and name, when this returns. */
	begin(kind: string, data: JsonValue): void {
		if (this.#begun) throw new Error(`journal ${this.path} already holds unfinished work`);
		this.#append({ begin: kind, data });
		syncDirectory(dirname(this.path));
		this.#begun = true;
	}

	/** Says that a part is about to be done, or has been; on disk when this returns. */
	step(data: JsonValue): void {
		if (!this.#begun) throw new Error(`journal ${this.path}: step before begin`);
		this.#append({ step: data });
	}

	/** The work is done: nothing of it is to be finished or taken back. Removes and closes the journal. */
	commit(): void {
		this.#append({ commit: true });
		crashPoint('journal-remove');
		unlinkSync(fsPath(this.path));
		syncDirectory(dirname(this.path));
		this.close();
	}

	/** Leaves the work as it stands, for a later {@link Journal.read}. */
	close(): void {
		closeSync(this.#fd);
	}

	#append(entry: Entry): void {
		crashPoint('journal-append');
		const json = JSON.stringify(entry);
		const line = Buffer.from(`${checksum(json)} ${json}\n`);
		for (let at = 0; at < line.length; ) {
			at += writeSync(this.#fd, line, at, line.length - at, this.#end + at);
		}
		this.#end += line.length;
		fdatasyncSync(this.#fd);
	}
}

type Entry = { begin: string; data: JsonValue } | { step: JsonValue } | { commit: true };

const CHECKSUM_DIGITS = 16;

function checksum(json: string): string {
	return createHash('sha256').update(json).digest('hex').slice(0, CHECKSUM_DIGITS);
}

/** The entries up to the first line that is not whole, and how many bytes they take. */
function parse(bytes: Buffer): { entries: Entry[]; wholeBytes: number } {
	const entries: Entry[] = [];
	let start = 0;
	for (;;) {
		const end = bytes.indexOf(0x0a, start);
		if (end < 0) break;
		const line = bytes.toString('utf8', start, end);
		const json = line.slice(CHECKSUM_DIGITS + 1);
		if (line.slice(0, CHECKSUM_DIGITS) !== checksum(json)) break;
		entries.push(JSON.parse(json) as Entry);
		start = end + 1;
	}
	return { entries, wholeBytes: start };
}

function readIfThere(path: string): Buffer | null {
	try {
		const fd = openSync(fsPath(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
		try {
			return readFileSync(fd);
		} finally {
			closeSync(fd);
		}
	} catch (error) {
		if (errorCode(error) === 'ENOENT') return null;
		throw error;
	}
}

function syncDirectory(path: string): void {
	const fd = openSync(fsPath(path), constants.O_RDONLY | constants.O_DIRECTORY);
	try {
		fsyncSync(fd);
	} finally {
		closeSync(fd);
	}
}
