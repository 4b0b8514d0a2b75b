import { driftOf } from '../apply/drift.ts';
import { Origins } from '../store/origins.ts';
import { Session } from './session.ts';
import type { SessionPlace } from './session-place.ts';
import { openBase } from './session-views.ts';

/** Paths that the session changed and that the host changed since, below the project; the base's own path when it is gone. */
export function driftedPaths(place: SessionPlace): string[] {
	const session = Session.openToRead(place);
	try {
		const { ino, basePath } = session.project;
		if (basePath === null) return [];
		const base = openBase(basePath);
		if (base === null) return [basePath];
		try {
			return new Origins(session.store)
				.list(ino)
				.filter((origin) => {
					const read = () => base.content(origin.path);
					const drift = driftOf(base.stat(origin.path), { origin, seenAt: null }, read);
					return drift === 'mode' || drift === 'content' || drift === 'unknown';
				})
				.map(({ path }) => path);
		} finally {
			base.close();
		}
	} finally {
		session.close();
	}
}
