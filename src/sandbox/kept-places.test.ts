import { expect, test } from 'vitest';
import { sampleRoot } from '../../test/support/sample-spec.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { type KeptRequest, keptBinds } from './kept-places.ts';

function kept(change: Partial<KeptRequest>): string[] {
	const request = {
		roots: [],
		home: null,
		reads: 'home',
		installed: [],
		masks: [],
		binds: [],
		host: { covers: [] },
	} as const;
	return keptBinds({ ...request, ...change }).map(({ target }) => target);
}

test('dropcloth is shown again where it would be hidden, and only there', () => {
	using place = temporaryDirectory();
	const installed = [place.write('lib/dropcloth/main.js', ''), place.join('lib/dropcloth')];
	const covers = { host: { covers: [place.path] } };
	expect(kept({ installed })).toEqual([]);
	expect(kept({ installed, ...covers })).toEqual([place.join('lib/dropcloth')]);
	expect(kept({ installed, home: place.path })).toEqual([]);
	expect(kept({ installed, home: place.path, reads: 'project' })).toEqual([place.join('lib/dropcloth')]);
	expect(kept({ installed, ...covers, roots: [sampleRoot('project', place.join('lib'))] })).toEqual([]);
	expect(kept({ installed, masks: [{ path: place.join('lib'), directory: true, reason: '' }] })).toEqual([
		place.join('lib/dropcloth'),
	]);
	const bind = { source: place.path, target: place.path, directory: true, writable: false, reason: '' };
	expect(kept({ installed, ...covers, binds: [bind] })).toEqual([]);
});
