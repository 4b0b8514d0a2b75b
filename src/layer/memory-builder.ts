import { addressOf } from '../host/libc.ts';
import { ScanMemory } from './scan-memory.ts';
import { CHILD_COUNT, FIRST_CHILD, NAME_AT, RECORD_WORDS } from './scan-record.ts';

/** Collects the records of a new {@link ScanMemory}, one directory's children after another. */
export class MemoryBuilder {
	/** May be replaced by any call that adds; so is `names`. */
	records: Uint32Array;
	names: Buffer;
	count = 1;
	#nameBytes = 1;
	#addressOf: Buffer | null = null;
	#address = 0;

	/** `like` is the memory that the new one will probably resemble. */
	constructor(like: ScanMemory | null) {
		this.records = new Uint32Array(((like?.count ?? 0) + 1024) * RECORD_WORDS);
		this.names = Buffer.allocUnsafeSlow((like?.names.length ?? 0) + 65_536);
		this.names[0] = 0;
	}

	/** Takes room for a directory's children by their raw names, and returns the number of the first. */
	addChildren(directory: number, rawNames: readonly string[]): number {
		const first = this.#addRecords(directory, rawNames.length);
		for (let child = 0; child < rawNames.length; child++) {
			const name = rawNames[child] as string;
			this.#ensureNameRoom(name.length + 1);
			this.records[(first + child) * RECORD_WORDS + NAME_AT] = this.#nameBytes;
			this.#nameBytes += this.names.write(name, this.#nameBytes, 'latin1');
			this.names[this.#nameBytes++] = 0;
		}
		return first;
	}

	/** The same with the names that another memory has for a directory. */
	addSameChildren(directory: number, from: ScanMemory, fromDirectory: number): number {
		const fromFirst = from.records[fromDirectory * RECORD_WORDS + FIRST_CHILD] as number;
		const count = from.records[fromDirectory * RECORD_WORDS + CHILD_COUNT] as number;
		const first = this.#addRecords(directory, count);
		if (count === 0) return first;
		const start = from.records[fromFirst * RECORD_WORDS + NAME_AT] as number;
		const last = from.records[(fromFirst + count - 1) * RECORD_WORDS + NAME_AT] as number;
		const end = from.names.indexOf(0, last) + 1;
		this.#ensureNameRoom(end - start);
		this.names.set(from.names.subarray(start, end), this.#nameBytes);
		const shift = this.#nameBytes - start;
		for (let child = 0; child < count; child++) {
			this.records[(first + child) * RECORD_WORDS + NAME_AT] =
				(from.records[(fromFirst + child) * RECORD_WORDS + NAME_AT] as number) + shift;
		}
		this.#nameBytes += end - start;
		return first;
	}

	/** The bytes of a record's name, one character each. */
	rawName(index: number): string {
		const start = this.records[index * RECORD_WORDS + NAME_AT] as number;
		return this.names.toString('latin1', start, this.names.indexOf(0, start));
	}

	/** Where a record's name lies, NUL-terminated; good until more is added. */
	nameAddress(index: number): number {
		if (this.#addressOf !== this.names) {
			this.#addressOf = this.names;
			this.#address = addressOf(this.names);
		}
		return this.#address + (this.records[index * RECORD_WORDS + NAME_AT] as number);
	}

	/** Takes out one child of the directory that was added last; those after it move up. */
	dropChild(directory: number, child: number): void {
		this.records.copyWithin(child * RECORD_WORDS, (child + 1) * RECORD_WORDS, this.count * RECORD_WORDS);
		const count = directory * RECORD_WORDS + CHILD_COUNT;
		this.records[count] = (this.records[count] as number) - 1;
		this.count--;
		this.records.fill(0, this.count * RECORD_WORDS, (this.count + 1) * RECORD_WORDS);
	}

	/** The memory of what was added; the builder is not used afterwards. */
	finish(): ScanMemory {
		return new ScanMemory(this.records.subarray(0, this.count * RECORD_WORDS), this.names.subarray(0, this.#nameBytes));
	}

	#addRecords(directory: number, count: number): number {
		const first = this.count;
		const needed = (first + count) * RECORD_WORDS;
		if (needed > this.records.length) {
			const grown = new Uint32Array(needed * 2);
			grown.set(this.records);
			this.records = grown;
		}
		this.records[directory * RECORD_WORDS + FIRST_CHILD] = first;
		this.records[directory * RECORD_WORDS + CHILD_COUNT] = count;
		this.count += count;
		return first;
	}

	#ensureNameRoom(bytes: number): void {
		if (this.#nameBytes + bytes <= this.names.length) return;
		const grown = Buffer.allocUnsafeSlow((this.#nameBytes + bytes) * 2);
		grown.set(this.names);
		this.names = grown;
	}
}
