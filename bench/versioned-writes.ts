import { Store } from '../src/store/store.ts';
import { inode } from '../test/support/file-content.ts';
import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { paired } from './harness/paired.ts';
import { benchPlace, type Place } from './harness/place.ts';

const FILES = 2_000;
const STEPS = 20_000;
const STEPS_OF_TRANSACTION = 50;
const STEPS_OF_SNAPSHOT = 1_000;

/** A mixed load of writes on the store with its history, against the same tables without triggers and snapshots. */
export async function versionedWrites({ full }: BenchOptions): Promise<Figure[]> {
	using place = benchPlace();
	const pairs = await paired(
		full ? 11 : 5,
		(round) => processorTimeOf(place, `with-${round}.db`, true),
		(round) => processorTimeOf(place, `without-${round}.db`, false),
	);
	return [
		{
			name: 'versioned-writes/mixed load',
			what: `processor time of ${STEPS} mixed changes in transactions of ${STEPS_OF_TRANSACTION}, with a snapshot each ${STEPS_OF_SNAPSHOT}`,
			unit: 'ms',
			...pairs,
			against: 'the same tables without history',
			goal: { kind: 'ratio', value: 1.4 },
		},
	];
}

function processorTimeOf(place: Place, name: string, withHistory: boolean): number {
	const store = Store.create(place.join(name));
	if (!withHistory) dropTriggers(store);
	const load = new MixedLoad(store);
	const before = process.cpuUsage();
	for (let step = 0; step < STEPS; step += STEPS_OF_TRANSACTION) {
		store.write(() => {
			for (let count = 0; count < STEPS_OF_TRANSACTION; count++) load.step();
			if (withHistory && step % STEPS_OF_SNAPSHOT === 0) snapshot(store);
		});
	}
	const { user, system } = process.cpuUsage(before);
	store.close();
	return (user + system) / 1000;
}

function dropTriggers({ db }: Store): void {
	const triggers = db.prepare<string>("select name from sqlite_schema where type = 'trigger'", 'value').all();
	for (const trigger of triggers) db.exec(`drop trigger ${trigger}`);
}

function snapshot(store: Store): void {
	store.tree.snapshot({ trigger: 'quiet', created: { sec: 0, nsec: 0 } });
}

interface LoadedFile {
	readonly parent: number;
	readonly ino: number;
	name: string;
}

/** Always the same changes in the same order: pieces written, times set, files made, removed, renamed and cut. */
class MixedLoad {
	readonly #store: Store;
	readonly #directories: number[];
	readonly #files: LoadedFile[] = [];
	readonly #data = Buffer.alloc(8192, 'dropcloth ');
	#random = 1;
	#names = 0;

	constructor(store: Store) {
		this.#store = store;
		const { tree } = store;
		this.#directories = store.write(() => {
			const { ino } = tree.addRoot('project', null);
			return Array.from({ length: 50 }, (_, index) => tree.put(ino, `d${index}`, inode('directory')));
		});
		store.write(() => {
			while (this.#files.length < FILES) this.#make();
		});
	}

	/** One change. */
	step(): void {
		const kind = this.#below(100);
		if (kind < 40) this.#write();
		else if (kind < 55) this.#setTime(this.#any());
		else if (kind < 75) this.#make();
		else if (kind < 85) this.#rename();
		else if (kind < 95) this.#remove();
		else this.#store.tree.truncate(this.#any().ino, this.#below(8192));
	}

	#write(): void {
		const file = this.#any();
		this.#data.writeUInt32LE(this.#random);
		this.#store.tree.write(file.ino, this.#below(8) * 1024, this.#data.subarray(0, 4096));
		this.#setTime(file);
	}

	#make(): void {
		const parent = this.#directories[this.#below(this.#directories.length)] as number;
		const name = `f${this.#names++}`;
		const ino = this.#store.tree.put(parent, name, inode('file'));
		this.#data.writeUInt32LE(this.#random);
		this.#store.tree.write(ino, 0, this.#data.subarray(0, 1024 + this.#below(7168)));
		this.#files.push({ parent, ino, name });
	}

	#rename(): void {
		const file = this.#any();
		const name = `f${this.#names++}`;
		this.#store.tree.rename(file.parent, file.name, file.parent, name);
		file.name = name;
	}

	#remove(): void {
		const index = this.#below(this.#files.length);
		const file = this.#files[index] as LoadedFile;
		this.#store.tree.remove(file.parent, file.name);
		this.#files[index] = this.#files.at(-1) as LoadedFile;
		this.#files.pop();
	}

	#setTime({ ino }: LoadedFile): void {
		const now = this.#store.tree.at('now').inode(ino);
		this.#store.tree.setInode(ino, { ...now, mtime: { sec: this.#random, nsec: 0 } });
	}

	#any(): LoadedFile {
		return this.#files[this.#below(this.#files.length)] as LoadedFile;
	}

	/** The next number of a linear congruential generator, below a limit. */
	#below(limit: number): number {
		this.#random = (this.#random * 1_103_515_245 + 12_345) % 2 ** 31;
		return Math.floor((this.#random / 2 ** 31) * limit);
	}
}
