import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { decodeName, encodeName, fsPath } from '../base/bytes.ts';
import { joinPath } from '../base/paths.ts';
import { errorCode } from '../base/posix-error.ts';
import { replaceFile } from '../host/replace-file.ts';
import { CHILD_COUNT, FIRST_CHILD, NAME_AT, RECORD_WORDS } from './scan-record.ts';

/** "DCSCAN" and the format's number. */
const MAGIC = 0x4e414353;
const FORMAT = 0x31304344;
const HEADER_WORDS = 8;

/**
 * What the last scan saw of an upper directory. A value: a scan makes a new one, and nobody changes an old one. It is
 * right for one state of the store only; `token` says which, and is kept in the store in the same transaction.
 */
export class ScanMemory {
	readonly count: number;
	/** {@link RECORD_WORDS} words for each name; see scan-record.ts. */
	readonly records: Uint32Array;
	/** Names, each ended by a NUL. */
	readonly names: Buffer;

	constructor(records: Uint32Array, names: Buffer) {
		this.records = records;
		this.names = names;
		this.count = records.length / RECORD_WORDS;
	}

	/**
	 * The memory kept in this file; null when there is none for that state of the store (absent, damaged, of an older
	 * format, or with another token): then everything is to be scanned anew.
	 */
	static load(path: string, token: string): ScanMemory | null {
		const file = readIfThere(path);
		const kept = file === null ? null : parse(file);
		return kept?.token === token ? kept.memory : null;
	}

	/** The token of the memory kept in this file; null when there is none, or a damaged one. */
	static tokenOf(path: string): string | null {
		const file = readIfThere(path);
		return file === null ? null : (parse(file)?.token ?? null);
	}

	/**
	 * Writes the memory beside its layer, whole or not at all. Called after the commit of what the scan found: a memory
	 * that lags is not used, one that is ahead cannot be.
	 */
	save(path: string, token: string): void {
		replaceFile(path, format(this, token));
	}

	/** The bytes of a record's name, one character each. */
	rawName(index: number): string {
		const start = this.records[index * RECORD_WORDS + NAME_AT] as number;
		return this.names.toString('latin1', start, this.names.indexOf(0, start));
	}

	/** The number of the record at a path, or -1. */
	find(path: string): number {
		let index = this.count === 0 ? -1 : 0;
		if (path === '') return index;
		for (const part of path.split('/')) {
			if (index < 0) break;
			index = this.child(index, encodeName(part).toString('latin1'));
		}
		return index;
	}

	/** The number of the record of a directory's child by its raw name, or -1. */
	child(directory: number, rawName: string): number {
		const at = directory * RECORD_WORDS;
		let low = this.records[at + FIRST_CHILD] as number;
		let high = low + (this.records[at + CHILD_COUNT] as number) - 1;
		while (low <= high) {
			const middle = (low + high) >>> 1;
			const name = this.rawName(middle);
			if (name === rawName) return middle;
			if (name < rawName) low = middle + 1;
			else high = middle - 1;
		}
		return -1;
	}

	/** Paths of the directories that hold a record such as this, which is told by the word at which it begins. */
	*directoriesOf(isWanted: (records: Uint32Array, at: number) => boolean): Generator<string> {
		for (const [index, path] of this.#walk()) {
			const first = this.records[index * RECORD_WORDS + FIRST_CHILD] as number;
			const end = first + (this.records[index * RECORD_WORDS + CHILD_COUNT] as number);
			for (let child = first; child < end; child++) {
				if (!isWanted(this.records, child * RECORD_WORDS)) continue;
				yield path;
				break;
			}
		}
	}

	/** Paths of the records such as this, which is told by the word at which it begins. */
	*pathsOf(isWanted: (records: Uint32Array, at: number) => boolean): Generator<string> {
		for (const [index, path] of this.#walk()) if (isWanted(this.records, index * RECORD_WORDS)) yield path;
	}

	/** Every path, each directory before what it holds; the first is '' for the upper directory itself. */
	*paths(): Generator<string> {
		for (const [, path] of this.#walk()) yield path;
	}

	*#walk(): Generator<[index: number, path: string]> {
		const open: [index: number, path: string][] = this.count === 0 ? [] : [[0, '']];
		for (let next = open.pop(); next !== undefined; next = open.pop()) {
			const [index, path] = next;
			yield next;
			const first = this.records[index * RECORD_WORDS + FIRST_CHILD] as number;
			const count = this.records[index * RECORD_WORDS + CHILD_COUNT] as number;
			for (let child = first + count - 1; child >= first; child--) {
				open.push([child, joinPath(path, nameOfRaw(this.rawName(child)))]);
			}
		}
	}
}

/** The name that raw bytes stand for, given one character a byte. */
export function nameOfRaw(raw: string): string {
	return NOT_ASCII.test(raw) ? decodeName(Buffer.from(raw, 'latin1')) : raw;
}

const NOT_ASCII = /[\x80-\xff]/;

/** Header (magic, format, words a record, records, bytes of names, bytes of token, checksum, 0), records, token, names. */
function format(memory: ScanMemory, token: string): Buffer {
	const tokenBytes = Buffer.from(token);
	const { records, names, count } = memory;
	const body = HEADER_WORDS * 4 + records.byteLength;
	const file = Buffer.allocUnsafeSlow(body + tokenBytes.length + names.length);
	file.set(new Uint8Array(records.buffer, records.byteOffset, records.byteLength), HEADER_WORDS * 4);
	file.set(tokenBytes, body);
	file.set(names, body + tokenBytes.length);
	const header = new Uint32Array(file.buffer, 0, HEADER_WORDS);
	header.set([MAGIC, FORMAT, RECORD_WORDS, count, names.length, tokenBytes.length, 0, 0]);
	header[6] = crc32(file);
	return file;
}

function readIfThere(path: string): Buffer | null {
	try {
		return readFileSync(fsPath(path));
	} catch (error) {
		if (errorCode(error) === 'ENOENT') return null;
		throw error;
	}
}

/** Null for a file that is damaged or of an older format. */
function parse(read: Buffer): { readonly token: string; readonly memory: ScanMemory } | null {
	const file = read.byteOffset % 4 === 0 ? read : Buffer.from(new Uint8Array(read).buffer);
	if (file.length < HEADER_WORDS * 4) return null;
	const header = new Uint32Array(file.buffer, file.byteOffset, HEADER_WORDS);
	const [magic, form, words, count, nameBytes, tokenBytes, checksum] = header as unknown as number[];
	if (magic !== MAGIC || form !== FORMAT || words !== RECORD_WORDS) return null;
	const body = HEADER_WORDS * 4 + Number(count) * RECORD_WORDS * 4;
	const namesAt = body + Number(tokenBytes);
	if (file.length !== namesAt + Number(nameBytes)) return null;
	header[6] = 0;
	if (crc32(file) !== checksum) return null;
	const records = new Uint32Array(file.buffer, file.byteOffset + HEADER_WORDS * 4, Number(count) * RECORD_WORDS);
	return { token: file.toString('utf8', body, namesAt), memory: new ScanMemory(records, file.subarray(namesAt)) };
}
