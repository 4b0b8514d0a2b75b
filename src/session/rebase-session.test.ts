import { mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { rebaseSession } from './rebase-session.ts';
import { OwnedSession } from './session.ts';
import { placeInStore } from './session-place.ts';

it('leaves a session over its base while an apply that was cut short waits', async () => {
	using place = temporaryDirectory();
	const [base, other] = [place.join('base'), place.join('other')];
	mkdirSync(base);
	mkdirSync(other);
	const session = await OwnedSession.create(placeInStore(place.join('store'), 's'), base);
	try {
		session.store.db.exec(
			`insert into applied(created, created_ns, state, snapshot, saved, paths) values(0, 0, 'writing', 1, 1, '{}')`,
		);
		for (const to of [other, null]) expect(() => rebaseSession(session, to)).toThrow('interrupted apply 1');
		expect(session.project.basePath).toBe(base);
		session.store.db.exec("update applied set state = 'aborted'");
		rebaseSession(session, other);
		expect(session.project.basePath).toBe(other);
	} finally {
		session.close();
	}
});
