import { Refusal } from '../base/refusal.ts';
import { Blobs } from './blobs.ts';
import { Config, type ConfigKey } from './config.ts';
import { type Database, type DatabaseOpener, openDatabase } from './driver.ts';
import { storeFailure } from './driver-error.ts';
import { Head } from './head.ts';
import { createSessionFile, openSessionFile, reserveSessionFile } from './session-file.ts';
import { Snapshots } from './snapshots.ts';
import { Tree } from './tree.ts';
import { WalSync } from './wal-sync.ts';

/**
 * What a connection is for. `reader` can't write; `log` writes the log tables (runs and records), which anyone may; `tree`
 * writes the tree as well, which the holder of the OWNER lock alone may, and folds the -wal into the file when it closes.
 */
export type StoreRole = 'reader' | 'log' | 'tree';

/** How a store is opened; the tests pass a driver that fails. */
export interface StoreOptions {
	readonly key?: string;
	readonly driver?: DatabaseOpener;
}

/** One session file. At most one per process is opened for writing. */
export class Store {
	readonly db: Database;
	readonly role: StoreRole;
	readonly config: Config;
	readonly head: Head;
	readonly blobs: Blobs;
	readonly snapshots: Snapshots;
	readonly tree: Tree;
	readonly #walSync: WalSync;
	#mode: 'idle' | 'reading' | 'writing' = 'idle';
	#failure: { error: unknown } | null = null;
	#dataVersion: unknown;

	/**
	 * Makes a session file and opens it for writing its tree. It has no snapshot and no root yet.
	 * Throws Refusal `failed` when the name is taken, `full` when the disk is.
	 */
	static create(path: string, facts: Partial<Record<ConfigKey, string>> = {}, options: StoreOptions = {}): Store {
		createSessionFile(path, options.driver ?? openDatabase, keyOf(options), (db) => {
			const config = new Config(db);
			for (const [key, value] of Object.entries(facts)) config.set(key as ConfigKey, value);
		});
		return Store.open(path, 'tree', options);
	}

	/** Opens a session file. Throws Refusal `invalid` when it can't be used, with its path in the message. */
	static open(path: string, role: StoreRole, options: StoreOptions = {}): Store {
		const driver = options.driver ?? openDatabase;
		return new Store(openSessionFile(path, driver, { ...keyOf(options), readOnly: role === 'reader' }), role);
	}

	private constructor(db: Database, role: StoreRole) {
		this.db = db;
		this.role = role;
		this.config = new Config(db);
		this.head = new Head(db);
		this.blobs = new Blobs(db);
		this.snapshots = new Snapshots(db, this.head);
		this.tree = new Tree(this);
		this.#walSync = new WalSync(db.path);
		this.#dataVersion = db.pragma('data_version');
	}

	get path(): string {
		return this.db.path;
	}

	/** Runs `action` on one unchanging state of the file. Keep it below a second: the -wal can't be cut meanwhile. */
	read<T>(action: () => T): T {
		if (this.#mode !== 'idle') return action();
		this.#mode = 'reading';
		try {
			this.db.exec('begin');
			const result = action();
			this.db.exec('commit');
			return result;
		} finally {
			this.#rollBack();
			this.#mode = 'idle';
		}
	}

	/**
	 * Runs `action` as one transaction: all of it is kept, or, when it throws, nothing. A call inside another belongs to
	 * the outer transaction, and its failure is the outer one's. Keep it to milliseconds: everybody else waits.
	 *
	 * Throws what `action` throws; Refusal `full`, `busy`.
	 */
	write<T>(action: () => T): T {
		if (this.#mode === 'writing') return this.#join(action);
		if (this.#mode === 'reading') throw new Error('Store.write called inside Store.read');
		this.db.exec('begin immediate');
		this.#mode = 'writing';
		try {
			this.head.begin();
			const result = this.#join(action);
			if (result instanceof Promise) throw new Error('the action of Store.write must not be asynchronous');
			if (this.#failure !== null) throw this.#failure.error;
			this.head.save();
			this.db.exec('commit');
			return result;
		} finally {
			this.#rollBack();
			this.head.end();
			this.#failure = null;
			this.#mode = 'idle';
		}
	}

	/** Returns once every commit until now is on disk. Throws Refusal `full` when the disk had no room after all. */
	durable(): void {
		if (this.#mode !== 'idle') throw new Error('Store.durable called inside a transaction');
		try {
			this.#walSync.sync();
		} catch (error) {
			throw storeFailure(error, this.path);
		}
	}

	/** Whether another connection has committed since the last call. */
	changed(): boolean {
		const before = this.#dataVersion;
		this.#dataVersion = this.db.pragma('data_version');
		return this.#dataVersion !== before;
	}

	/**
	 * Writes the state of this moment into a new file, mode 0600, with the same key and without free pages.
	 * Throws Refusal `failed` when the name is taken, `full` when the disk is.
	 */
	copyTo(path: string): void {
		reserveSessionFile(path);
		this.db.prepare('vacuum into ?').run(path);
	}

	/** Closes the connection. The tree's writer first folds the -wal into the file, so that one file is left. */
	close(): void {
		try {
			if (this.role === 'tree') this.#foldWal();
		} finally {
			this.db.close();
		}
	}

	/** Runs a part of the transaction; a failure that the caller catches must not be committed in half. */
	#join<T>(action: () => T): T {
		try {
			return action();
		} catch (error) {
			this.#failure ??= { error };
			throw error;
		}
	}

	/** SQLite has already rolled back by itself after some failures, such as a full disk. */
	#rollBack(): void {
		if (this.db.inTransaction) this.db.exec('rollback');
	}

	/** Without room, or while somebody reads, the -wal stays: it holds every commit, and the next one to close folds it. */
	#foldWal(): void {
		try {
			this.db.pragma('wal_checkpoint(truncate)');
		} catch (error) {
			if (!(error instanceof Refusal && (error.kind === 'full' || error.kind === 'busy'))) throw error;
		}
	}
}

function keyOf(options: StoreOptions): { key?: string } {
	return options.key === undefined ? {} : { key: options.key };
}
