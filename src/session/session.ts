import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fsPath } from '../base/bytes.ts';
import { type Clock, isoTime, systemClock } from '../base/clock.ts';
import { Refusal } from '../base/refusal.ts';
import { crashPoint } from '../host/crash-point.ts';
import type { LockFile } from '../host/lock-file.ts';
import type { Root } from '../store/roots.ts';
import { Store } from '../store/store.ts';
import { checkUser } from './check-user.ts';
import { isLayerRole, type KernelLive } from './kernel-live.ts';
import type { LayerRoot } from './layer-place.ts';
import { lockOwner } from './owner-lock.ts';
import { writeReadyToken } from './ready-token.ts';
import { recover } from './recovery.ts';
import type { RootChanges } from './root-changes.ts';
import { rootInode } from './root-inode.ts';
import { makePlace, type SessionPlace, sessionExists, syncDirectory } from './session-place.ts';
import { writeTruth } from './truth.ts';

/** Told to the user while something else goes on, such as what a recovery did. */
export type Notify = (text: string) => void;

/** A session that this process reads: its store, open beside whoever owns it. */
export class Session {
	readonly place: SessionPlace;
	readonly store: Store;
	readonly clock: Clock;

	protected constructor(place: SessionPlace, store: Store, clock: Clock) {
		this.place = place;
		this.store = store;
		this.clock = clock;
	}

	/** Opens a session to look at it; takes no lock that anybody waits for. Throws Refusal 'invalid'. */
	static openToRead(place: SessionPlace, clock: Clock = systemClock): Session {
		return new Session(place, Store.open(place.dbPath, 'reader'), clock);
	}

	get id(): string {
		return this.place.id;
	}

	/** The tree of the project. */
	get project(): Root {
		const root = this.store.tree.root('project');
		if (root === null) throw new Refusal('invalid', 'no-project', `${this.place.dbPath} has no project tree`);
		return root;
	}

	/** The trees that diff, apply, restore and undo deal with; home only when it is asked for. */
	workRoots(withHome = false): Root[] {
		return this.store.tree
			.roots()
			.filter(({ role }) => role === 'project' || role === 'gitdir' || (withHome && role === 'home'));
	}

	close(): void {
		this.store.close();
	}
}

/** A session that this process owns: nobody else writes its tree, and store and live layer agree. */
export class OwnedSession extends Session {
	readonly #lock: LockFile;
	/** The live layer; null while there is none in line with the store. */
	live: KernelLive | null;

	private constructor(place: SessionPlace, store: Store, clock: Clock, lock: LockFile, layer: KernelLive | null) {
		super(place, store, clock);
		this.#lock = lock;
		this.live = layer;
	}

	/** Makes a session with its first, empty snapshot. Throws Refusal 'failed' when it exists already. */
	static async create(place: SessionPlace, basePath: string | null, clock: Clock = systemClock): Promise<OwnedSession> {
		makePlace(place);
		const { lock } = await lockOwner(place);
		try {
			if (sessionExists(place)) {
				throw new Refusal('failed', 'session-exists', `session '${place.id}' exists already`, {
					hint: `continue it with \`dropcloth run ${place.id}\`, or throw it away with \`dropcloth discard ${place.id}\``,
				});
			}
			createStore(place, basePath, clock);
			return new OwnedSession(place, Store.open(place.dbPath, 'tree'), clock, lock, null);
		} catch (error) {
			lock.close();
			throw error;
		}
	}

	/**
	 * Becomes the owner of an existing session and climbs the recovery ladder. Throws Refusal 'busy' when it is live, 'invalid'
	 * when its file is no session.
	 */
	static async open(place: SessionPlace, notify: Notify, clock: Clock = systemClock): Promise<OwnedSession> {
		if (!sessionExists(place))
			throw new Refusal('invalid', 'no-such-session', `there is no session at ${place.dbPath}`);
		checkUser(place);
		const { lock, wasReady, left } = await lockOwner(place);
		let store: Store | null = null;
		try {
			store = Store.open(place.dbPath, 'tree');
			const layer = await recover({ place, store, wasReady, left, notify, clock });
			return new OwnedSession(place, store, clock, lock, layer);
		} catch (error) {
			try {
				store?.close();
			} finally {
				lock.close();
			}
			throw error;
		}
	}

	/** Becomes the owner through a lock that is held already and a layer that is known to be in line: after a launch. */
	static adoptLaunched(
		place: SessionPlace,
		lock: LockFile,
		layerOf: (store: Store) => KernelLive,
		clock: Clock = systemClock,
	): OwnedSession {
		const store = Store.open(place.dbPath, 'tree');
		const layer = layerOf(store);
		layer.isInLine = true;
		return new OwnedSession(place, store, clock, lock, layer);
	}

	/**
	 * Changes the store's tree and then the live layer. In between the store says that it is ahead, so that a crash there is
	 * repaired by making the layer anew. `write` runs in the one transaction; `changes` is what it does, tree by tree.
	 */
	changeTree(changes: readonly RootChanges[], write: () => void): void {
		const { store, live } = this;
		store.write(() => {
			write();
			if (live !== null) writeTruth(store.config, { side: 'store' });
		});
		store.durable();
		crashPoint('tree-changed');
		live?.bring(store, changes);
	}

	/** Lays the session over another host directory, or over none. */
	setBase(basePath: string | null): void {
		this.store.write(() => this.store.tree.setBasePath(this.project.ino, basePath));
		this.store.durable();
	}

	/** The owner's lock, to be shared with the launcher. */
	get lock(): LockFile {
		return this.#lock;
	}

	/** Closes the store, leaves word that the layer is ready when it is in line, and gives up ownership. */
	override close(): void {
		try {
			const ready = this.live?.isInLine === true ? { layer: this.live.place.number, roots: this.#layerRoots() } : null;
			super.close();
			crashPoint('store-closed');
			if (ready !== null) writeReadyToken(this.place, ready);
		} finally {
			this.#lock.close();
		}
	}

	#layerRoots(): LayerRoot[] {
		return this.store.tree.roots().flatMap(({ role, basePath }) => (isLayerRole(role) ? [{ role, basePath }] : []));
	}
}

function createStore(place: SessionPlace, basePath: string | null, clock: Clock): void {
	const temporary = `${place.dbPath}.new`;
	removeLeftovers(temporary);
	const store = Store.create(temporary);
	try {
		store.write(() => {
			store.config.set('sessionId', place.id);
			store.config.set('created', isoTime(clock.now()));
			store.tree.addRoot('project', basePath, rootInode(basePath));
			store.tree.snapshot({ trigger: 'start', atRest: true, created: clock.now(), tag: null, run: null, note: null });
		});
		store.durable();
	} finally {
		store.close();
	}
	// a -wal without room to be folded would stay behind under the name that goes
	if (existsSync(fsPath(`${temporary}-wal`))) {
		throw new Refusal('full', 'store-full', `no space left to write ${place.dbPath}`, {
			hint: 'make room on that disk and try again',
		});
	}
	if (existsSync(fsPath(place.dbPath))) throw new Error(`${place.dbPath} appeared while its owner's lock was held`);
	renameSync(fsPath(temporary), fsPath(place.dbPath));
	syncDirectory(dirname(place.dbPath));
}

/** What a creation left that was killed. */
function removeLeftovers(temporary: string): void {
	const directory = dirname(temporary);
	for (const name of readdirSync(fsPath(directory)))
		if (name.startsWith(basename(temporary))) rmSync(fsPath(join(directory, name)), { force: true });
}
