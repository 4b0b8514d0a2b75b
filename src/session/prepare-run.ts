import type { Store } from '../store/store.ts';
import { realDirectory } from './base-directory.ts';
import { KernelLayer } from './kernel-layer.ts';
import type { LayerPlace, LayerRoot } from './layer-place.ts';
import { rootInode } from './root-inode.ts';
import { wantedRoots } from './run-roots.ts';
import type { RunRequest } from './run-session.ts';
import { OwnedSession } from './session.ts';

/** A session with a live layer in line, to be launched on. */
export interface PreparedRun {
	readonly session: OwnedSession;
	readonly layer: LayerPlace;
	readonly roots: readonly LayerRoot[];
}

/** Makes or opens the session, recovers it, and makes its live layer where there is none. */
export async function prepareRun({ target, sandbox, notify, clock }: RunRequest): Promise<PreparedRun> {
	const { place, create } = target;
	const session =
		create === null
			? await OwnedSession.open(place, notify, clock)
			: await OwnedSession.create(place, create.basePath, clock);
	try {
		const { basePath } = session.project;
		if (basePath !== null) realDirectory(basePath);
		const roots = wantedRoots(basePath, sandbox.home, sandbox.storePath);
		keepRoots(session.store, roots);
		session.layer ??= KernelLayer.fromStore(place, session.store);
		session.layer.addMissingRoots(session.store);
		return { session, layer: session.layer.place, roots };
	} catch (error) {
		session.close();
		throw error;
	}
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
