import { type Database, type DatabaseOpener, openDatabase, type Statement } from '../../src/store/driver.ts';

/**
 * A driver that calls `before` ahead of each statement that is run, with its text; what that throws, the statement throws.
 * Rolling back is left alone: a transaction that can't even be given up is a dead process.
 */
export function watchedDriver(before: (sql: string) => void): DatabaseOpener {
	return (path, options) => new WatchedDatabase(openDatabase(path, options), before);
}

class WatchedDatabase implements Database {
	readonly #inner: Database;
	readonly #before: (sql: string) => void;

	constructor(inner: Database, before: (sql: string) => void) {
		this.#inner = inner;
		this.#before = before;
	}

	get path(): string {
		return this.#inner.path;
	}

	get readOnly(): boolean {
		return this.#inner.readOnly;
	}

	get inTransaction(): boolean {
		return this.#inner.inTransaction;
	}

	prepare<Answer>(...[sql, shape]: Parameters<Database['prepare']>): Statement<Answer> {
		const inner = this.#inner.prepare<Answer>(sql, shape);
		const watched =
			<Parameters extends unknown[], Result>(action: (...parameters: Parameters) => Result) =>
			(...parameters: Parameters): Result => {
				this.#before(sql);
				return action(...parameters);
			};
		return {
			run: watched(inner.run.bind(inner)),
			get: watched(inner.get.bind(inner)),
			all: watched(inner.all.bind(inner)),
		};
	}

	exec(sql: string): void {
		if (sql !== 'rollback') this.#before(sql);
		this.#inner.exec(sql);
	}

	pragma(text: string): ReturnType<Database['pragma']> {
		return this.#inner.pragma(text);
	}

	close(): void {
		this.#inner.close();
	}
}
