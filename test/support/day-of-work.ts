import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Change } from '../../src/base/change.ts';
import { Store } from '../../src/store/store.ts';
import { thinInSteps } from '../../src/store/thin-in-steps.ts';
import { change, fileChange, inode } from './file-content.ts';

/** How large a simulated day is. */
export interface DayOptions {
	readonly checkpoints: number;
	readonly files: number;
	/** Bytes of the layer at the start of the day. */
	readonly layerBytes: number;
	readonly hours: number;
	/** Whether checkpoints are thinned as the day goes on. */
	readonly thin: boolean;
	/** How many must go at once. */
	readonly atLeast: number;
}

/** What a simulated day left behind. */
export interface DayReport {
	/** Snapshots at its end. */
	readonly snapshots: number;
	/** The session file once it is closed. */
	readonly fileBytes: number;
	/** The file and its -wal at their largest. */
	readonly largestBytes: number;
	/** The bytes of the layer at the start and of every chunk that a checkpoint changed, the same content once. */
	readonly changedBytes: number;
	/** Of these, what the present and the remaining snapshots hold. */
	readonly heldBytes: number;
	/** Every thinning that dropped something, in milliseconds, and the slowest of its steps. */
	readonly thinningMs: readonly number[];
	readonly slowestStepMs: readonly number[];
}

const CHUNK_BYTES = 65_536;

/** A random number generator of its own, so that each day is the same. */
function randomOf(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}

/**
 * Plays a day of an agent's work on a store: logs that grow, small sources that are rewritten, build outputs that are
 * replaced, files that go, come and move. After each change a checkpoint; every minute of the simulated clock a thinning,
 * as far as there is something to thin.
 */
export function playDay(path: string, options: DayOptions): DayReport {
	const day = new Day(path, options);
	for (let count = 0; count < options.checkpoints; count++) day.step(count);
	return day.end();
}

class Day {
	readonly #store: Store;
	readonly #root: number;
	readonly #options: DayOptions;
	readonly #random = randomOf(7);
	readonly #files = new Map<string, Buffer>();
	readonly #chunks = new Map<string, number>();
	readonly #slowestStepMs: number[] = [];
	readonly #thinningMs: number[] = [];
	#largestBytes = 0;
	#thinnedAt = 0;
	#made = 0;

	constructor(path: string, options: DayOptions) {
		this.#options = options;
		this.#store = Store.create(path);
		this.#root = this.#store.write(() => this.#store.tree.addRoot('project', null).ino);
		this.#checkpoint([...directories(), ...this.#firstFiles()], 0, 'start');
	}

	step(count: number): void {
		const sec = Math.floor((count * this.#options.hours * 3600) / this.#options.checkpoints) + 1;
		this.#checkpoint(this.#work(count), sec, count % 10 === 0 ? 'ceiling' : 'quiet');
		if (this.#options.thin && sec - this.#thinnedAt >= 60) {
			this.#thinnedAt = sec;
			this.#thin(sec);
		}
	}

	end(): DayReport {
		const store = this.#store;
		const snapshots = store.snapshots.list().length;
		const heldBytes = store.db
			.prepare<number>(
				'select sum(size) from blob where id in (select blob from chunk union select blob from chunk_past)',
				'value',
			)
			.get() as number;
		store.close();
		return {
			snapshots,
			fileBytes: statSync(store.path).size,
			largestBytes: this.#largestBytes,
			changedBytes: [...this.#chunks.values()].reduce((sum, size) => sum + size, 0),
			heldBytes,
			thinningMs: this.#thinningMs,
			slowestStepMs: this.#slowestStepMs,
		};
	}

	/** Nine of ten files are sources of up to 8 KiB; the others share what is left: logs and build outputs. */
	#firstFiles(): Change[] {
		const { files, layerBytes } = this.#options;
		const sources = Math.floor(files * 0.9);
		const small = Array.from({ length: sources }, (_, index) => this.#write(`src/f${index}.ts`, this.#sourceBytes()));
		const used = [...this.#files.values()].reduce((sum, { length }) => sum + length, 0);
		const large = Math.floor((layerBytes - used) / (files - sources));
		const outputs = Array.from({ length: files - sources }, (_, index) => this.#write(`out/o${index}.js`, large));
		return [...small, ...outputs];
	}

	#work(count: number): Change[] {
		const changes = [this.#append(`log/l${count % 4}.log`), this.#write(this.#pick('src/'), this.#sourceBytes())];
		if (count % 3 === 0) changes.push(this.#write(this.#pick('src/'), this.#sourceBytes()));
		if (count % 8 === 0) changes.push(this.#write(this.#pick('out/'), 150_000));
		if (count % 20 === 0) changes.push(this.#remove(this.#pick('src/')));
		if (count % 20 === 10) changes.push(this.#write(`src/n${this.#made++}.ts`, this.#sourceBytes()));
		if (count % 50 === 25) changes.push(...this.#move(this.#pick('src/'), `src/m${this.#made++}.ts`));
		return [...new Map(changes.map((one) => [one.path, one])).values()];
	}

	#checkpoint(changes: readonly Change[], sec: number, trigger: 'start' | 'quiet' | 'ceiling'): void {
		const store = this.#store;
		const staged = store.tree.stage(changes);
		store.write(() => {
			store.tree.apply(this.#root, changes, staged);
			store.tree.snapshot({ trigger, created: { sec, nsec: 0 }, atRest: trigger !== 'ceiling' });
		});
		this.#look();
	}

	#thin(sec: number): void {
		const start = performance.now();
		let before = start;
		let dropped = 0;
		let slowest = 0;
		for (const gone of thinInSteps(this.#store, { now: { sec, nsec: 0 }, redo: [], atLeast: this.#options.atLeast })) {
			const now = performance.now();
			slowest = Math.max(slowest, now - before);
			before = now;
			dropped += gone;
		}
		if (dropped > 0) {
			this.#thinningMs.push(performance.now() - start);
			this.#slowestStepMs.push(slowest);
		}
		this.#look();
	}

	#look(): void {
		const bytes = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
		const { path } = this.#store;
		this.#largestBytes = Math.max(this.#largestBytes, bytes(path) + bytes(`${path}-wal`));
	}

	#write(path: string, size: number): Change {
		return this.#put(path, this.#bytes(size));
	}

	#append(path: string): Change {
		const old = this.#files.get(path) ?? Buffer.alloc(0);
		// a log is begun anew when it is large
		const kept = old.length > 2_000_000 ? Buffer.alloc(0) : old;
		return this.#put(path, Buffer.concat([kept, this.#bytes(200 + this.#random() * 600)]));
	}

	#put(path: string, data: Buffer): Change {
		this.#files.set(path, data);
		for (let offset = 0; offset < data.length; offset += CHUNK_BYTES) {
			const chunk = data.subarray(offset, offset + CHUNK_BYTES);
			this.#chunks.set(createHash('sha1').update(chunk).digest('base64'), chunk.length);
		}
		return fileChange(path, data);
	}

	#remove(path: string): Change {
		this.#files.delete(path);
		return change(path, null);
	}

	#move(from: string, to: string): Change[] {
		const data = this.#files.get(from) as Buffer;
		this.#files.delete(from);
		return [change(from, null), this.#put(to, data)];
	}

	#pick(prefix: string): string {
		const paths = [...this.#files.keys()].filter((path) => path.startsWith(prefix));
		return paths[Math.floor(this.#random() * paths.length)] as string;
	}

	#sourceBytes(): number {
		return 500 + this.#random() * 7500;
	}

	#bytes(size: number): Buffer {
		const data = Buffer.allocUnsafe(Math.floor(size));
		for (let at = 0; at < data.length; at++) data[at] = 1 + Math.floor(this.#random() * 255);
		return data;
	}
}

function directories(): Change[] {
	return ['src', 'out', 'log'].map((path) => change(path, inode('directory')));
}
