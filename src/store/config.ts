import type { Database } from './driver.ts';

/**
 * The keys of the config table and what each means. All values are text; JSON where said. Read and written through
 * {@link Config}; a key that is not declared here is a bug.
 */
export const CONFIG_KEYS = {
	sessionId: 'name of the session',
	basePath: 'absolute path of the host directory that the session reads through to; absent when it has none',
	created: 'when the session was made, ISO 8601',
	truth: '`store`, or `layer N` when the live layer of that number is ahead of the tree',
	layerToken:
		'names the state of the live layer that the tree is in line with; what a scan remembers holds for that one only',
	generation: 'raised whenever the tree changes otherwise than by taking in its own layer',
	redo: 'JSON array of snapshot numbers that undo left, the next one to redo last',
	thinning:
		'JSON [first, last]: numbers between which snapshots were thinned out, as long as what they alone held is being removed',
	pin: 'the git commit that a seeded session is relative to',
	seeded: 'JSON array of the paths that seeding wrote',
	lineage: 'JSON array of the sessions that this one branched from, the nearest first',
	chunkBytes: 'bytes of a full chunk of a new file',
	worktree: 'JSON: how the project is tied to a git directory elsewhere',
	settings: 'JSON: choices made when the session was created, such as its reads and masks',
} as const satisfies Record<string, string>;

/** The name of a fact about the session. */
export type ConfigKey = keyof typeof CONFIG_KEYS;

/** Facts about the session, by key. */
export class Config {
	readonly #db: Database;

	constructor(db: Database) {
		this.#db = db;
	}

	/** The value, or null when there is none. */
	get(key: ConfigKey): string | null {
		const value = this.#db.prepare<string>('select value from config where key = ?', 'value').get(key);
		return value ?? null;
	}

	/** Stores a value, or forgets it when null. Called inside Store.write. */
	set(key: ConfigKey, value: string | null): void {
		if (value === null) this.#db.prepare('delete from config where key = ?').run(key);
		else this.#db.prepare(UPSERT).run(key, value);
	}

	/** The value as JSON, or `otherwise` when there is none. Its shape is the caller's to check. */
	getJson(key: ConfigKey, otherwise: unknown = null): unknown {
		const text = this.get(key);
		return text === null ? otherwise : JSON.parse(text);
	}

	/** Stores a value as JSON. Called inside Store.write. */
	setJson(key: ConfigKey, value: unknown): void {
		this.set(key, JSON.stringify(value));
	}

	/** Every fact that is set. */
	entries(): ReadonlyMap<string, string> {
		return new Map(this.#db.prepare<[string, string]>('select key, value from config', 'tuple').all());
	}
}

const UPSERT =
	'insert into config(key, value) values(?, ?) on conflict do update set value = excluded.value where value is not excluded.value';
