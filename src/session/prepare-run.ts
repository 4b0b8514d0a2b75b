import type { Clock } from '../base/clock.ts';
import { Refusal } from '../base/refusal.ts';
import type { Store } from '../store/store.ts';
import { checkBaseInPlace } from './base-directory.ts';
import { KernelLive } from './kernel-live.ts';
import type { LayerPlace, LayerRoot } from './layer-place.ts';
import { rootInode } from './root-inode.ts';
import type { RunRequest } from './run-request.ts';
import { wantedRoots } from './run-roots.ts';
import type { RunTarget } from './run-target.ts';
import { type Notify, OwnedSession } from './session.ts';

/** A session with a live layer in line, to be launched on. */
export interface PreparedRun {
	readonly session: OwnedSession;
	readonly layer: LayerPlace;
	readonly roots: readonly LayerRoot[];
}

/** Makes or opens the session, recovers it, and makes its live layer where there is none. */
export async function prepareRun({ target, sandbox, notify, clock }: RunRequest): Promise<PreparedRun> {
	const { place } = target;
	const session = await ownedSession(target, notify, clock);
	try {
		const { basePath } = session.project;
		if (basePath !== null) checkBaseInPlace(basePath);
		const roots = wantedRoots(basePath, sandbox.home, sandbox.storePath);
		keepRoots(session.store, roots);
		session.live ??= KernelLive.fromStore(place, session.store);
		session.live.addMissingRoots(session.store);
		return { session, layer: session.live.place, roots };
	} catch (error) {
		session.close();
		throw error;
	}
}

/** A session that was missing a moment ago may have been made by another run meanwhile: then this one goes on with it. */
async function ownedSession({ place, create }: RunTarget, notify: Notify, clock?: Clock): Promise<OwnedSession> {
	if (create === null) return await OwnedSession.open(place, notify, clock);
	try {
		return await OwnedSession.create(place, create.basePath, clock);
	} catch (error) {
		if (create.mustBeNew || !(error instanceof Refusal && error.code === 'session-exists')) throw error;
	}
	const session = await OwnedSession.open(place, notify, clock);
	if (session.project.basePath === create.basePath) return session;
	session.close();
	const what = `another command has just made session '${place.id}', over another directory`;
	throw new Refusal('busy', 'session-made', what, { hint: 'try again' });
}

/** Adds the trees that the session has not had before, and follows a home or git directory that moved. */
function keepRoots(store: Store, roots: readonly LayerRoot[]): void {
	const { tree } = store;
	store.write(() => {
		for (const { role, basePath } of roots) {
			const known = tree.root(role);
			if (known === null) tree.addRoot(role, basePath, rootInode(basePath));
			else if (known.basePath !== basePath) tree.setBasePath(known.ino, basePath);
		}
	});
}
