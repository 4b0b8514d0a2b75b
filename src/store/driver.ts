import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fsPath, isUtf8Name } from '../base/bytes.ts';
import { Refusal } from '../base/refusal.ts';
import { storeFailure } from './driver-error.ts';

/** What a column holds and a parameter may be. Numbers are exact up to 2^53; blobs come back as Buffer. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** How a row comes back: as an object by column name, as an array in column order, or its first column alone. */
export type RowShape = 'row' | 'tuple' | 'value';

/** One prepared statement. `Answer` is what the caller knows about its rows; it is not checked. */
export interface Statement<Answer = unknown> {
	run(...parameters: SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number | bigint };
	get(...parameters: SqlValue[]): Answer | undefined;
	all(...parameters: SqlValue[]): Answer[];
}

/** One connection to one SQLite file: the only door to the engine, so that tests can put a failing one in its place. */
export interface Database {
	readonly path: string;
	readonly readOnly: boolean;
	readonly inTransaction: boolean;
	/** The statement of this text, prepared once per connection. Parameters are `?`. */
	prepare<Answer = unknown>(sql: string, shape?: RowShape): Statement<Answer>;
	/** Runs any number of statements; the only way in which `pragma incremental_vacuum(n)` frees more than one page. */
	exec(sql: string): void;
	/** Runs a pragma and gives the first value of its answer. */
	pragma(text: string): SqlValue | undefined;
	close(): void;
}

/** How a file is opened. */
export interface OpenOptions {
	/** Refuse to write; the file must exist. */
	readonly readOnly?: boolean;
	/** Make the file when it is missing; without it a missing file is an error. */
	readonly create?: boolean;
	/** Passphrase of an encrypted file (AEGIS-256, which detects tampering). */
	readonly key?: string;
}

/** Opens a connection; the tests pass their own. */
export type DatabaseOpener = (path: string, options?: OpenOptions) => Database;

/** Milliseconds to wait for another connection's lock. */
export const BUSY_TIMEOUT_MS = 5000;

/**
 * Opens any SQLite file, with the settings that every connection of ours needs. `recursive_triggers` is one of them: with
 * it off, REPLACE deletes rows without the triggers that keep history.
 *
 * Throws Refusal: `invalid` when it is no database or damaged, `full` when the disk is, `busy` when a lock is not given.
 */
export function openDatabase(path: string, options: OpenOptions = {}): Database {
	return new SqliteDatabase(path, options);
}

/** The part of better-sqlite3's interface that is used here. */
interface Engine {
	readonly inTransaction: boolean;
	prepare(sql: string): EngineStatement;
	exec(sql: string): void;
	pragma(text: string, options: { simple: boolean }): unknown;
	close(): void;
}

interface EngineStatement extends Statement {
	raw(on: boolean): void;
	pluck(on: boolean): void;
}

type EngineConstructor = new (
	path: string,
	options: { readonly: boolean; fileMustExist: boolean; timeout: number },
) => Engine;

class SqliteDatabase implements Database {
	readonly path: string;
	readonly readOnly: boolean;
	readonly #engine: Engine;
	/** By shape, then text: a key made of both would have to be put together and hashed at each call. */
	readonly #statements: Readonly<Record<RowShape, Map<string, Statement>>> = {
		row: new Map(),
		tuple: new Map(),
		value: new Map(),
	};

	constructor(path: string, options: OpenOptions) {
		this.path = path;
		this.readOnly = options.readOnly ?? false;
		this.#engine = this.#guarded(() => {
			const Constructor = loadEngine();
			const settings = { readonly: this.readOnly, fileMustExist: !(options.create ?? false), timeout: BUSY_TIMEOUT_MS };
			return withEnginePath(path, (enginePath) => new Constructor(enginePath, settings));
		});
		try {
			if (options.key !== undefined) this.#unlock(options.key);
			this.exec('pragma recursive_triggers=on; pragma cache_size=-65536; pragma synchronous=normal');
		} catch (error) {
			this.close();
			throw error;
		}
	}

	get inTransaction(): boolean {
		return this.#engine.inTransaction;
	}

	prepare<Answer>(sql: string, shape: RowShape = 'row'): Statement<Answer> {
		const known = this.#statements[shape];
		let statement = known.get(sql);
		if (statement === undefined) {
			statement = this.#guarded(() => new SqliteStatement(this.#engine.prepare(sql), shape, this.path));
			known.set(sql, statement);
		}
		return statement as Statement<Answer>;
	}

	exec(sql: string): void {
		this.#guarded(() => this.#engine.exec(sql));
	}

	pragma(text: string): SqlValue | undefined {
		return this.#guarded(() => this.#engine.pragma(text, { simple: true }) as SqlValue | undefined);
	}

	close(): void {
		for (const statements of Object.values(this.#statements)) statements.clear();
		this.#guarded(() => this.#engine.close());
	}

	/** The cipher and the key come before anything else touches the file. */
	#unlock(key: string): void {
		this.pragma("cipher='aegis'");
		this.pragma(`key='${key.replaceAll("'", "''")}'`);
	}

	#guarded<T>(action: () => T): T {
		try {
			return action();
		} catch (error) {
			throw storeFailure(error, this.path);
		}
	}
}

class SqliteStatement implements Statement {
	readonly #inner: EngineStatement;
	readonly #path: string;

	constructor(inner: EngineStatement, shape: RowShape, path: string) {
		if (shape === 'tuple') inner.raw(true);
		if (shape === 'value') inner.pluck(true);
		this.#inner = inner;
		this.#path = path;
	}

	run(...parameters: SqlValue[]): ReturnType<Statement['run']> {
		try {
			return this.#inner.run(...parameters);
		} catch (error) {
			throw storeFailure(error, this.#path);
		}
	}

	get(...parameters: SqlValue[]): unknown {
		try {
			return this.#inner.get(...parameters);
		} catch (error) {
			throw storeFailure(error, this.#path);
		}
	}

	all(...parameters: SqlValue[]): unknown[] {
		try {
			return this.#inner.all(...parameters);
		} catch (error) {
			throw storeFailure(error, this.#path);
		}
	}
}

const require = createRequire(import.meta.url);
let engine: EngineConstructor | null = null;

/**
 * The engine's newer release is built for Node-API 10, which Node 20 does not have: loading it there crashes. For Node 20
 * the published package carries the older one compiled (tools/complete-package.mjs); in the repository npm compiled it.
 */
function loadEngine(): EngineConstructor {
	engine ??= require(engineModule()) as EngineConstructor;
	return engine;
}

function engineModule(): string {
	if (Number(process.versions.node.split('.')[0]) >= 22) return 'sqlite-mc';
	const shipped = fileURLToPath(new URL('../native/sqlite-node20', import.meta.url));
	return existsSync(shipped) ? shipped : 'sqlite-mc-legacy';
}

/**
 * Calls `open` with a path that the engine takes for what it is. A directory whose name is not UTF-8 is reached through
 * a descriptor; a file name that the engine would trim is refused, since it would open another file.
 */
function withEnginePath<T>(path: string, open: (enginePath: string) => T): T {
	const absolute = resolve(path);
	const name = basename(absolute);
	if (name.trimEnd() !== name || !isUtf8Name(name)) {
		throw new Refusal('invalid', 'store-name', `cannot open a database of this name: ${JSON.stringify(path)}`, {
			hint: 'give the file a name that is valid UTF-8 and does not end in white space',
		});
	}
	if (isUtf8Name(absolute)) return open(absolute);
	const directory = openSync(fsPath(dirname(absolute)), constants.O_RDONLY | constants.O_DIRECTORY);
	try {
		return open(`/proc/self/fd/${directory}/${name}`);
	} finally {
		closeSync(directory);
	}
}
