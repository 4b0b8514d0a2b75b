import { mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { type KeptLinksRequest, keptLinks } from './kept-links.ts';

function links(change: Partial<KeptLinksRequest>) {
	const request = { roots: [], home: null, reads: 'home', masks: [], binds: [], host: { covers: [] } } as const;
	return keptLinks({ ...request, installed: [], ...change });
}

test('every link on the way to the program is made again where it is hidden, and only there', () => {
	using place = temporaryDirectory();
	place.write('real/bin/tool', '');
	mkdirSync(place.join('bin'));
	symlinkSync('real', place.join('current'));
	symlinkSync('../current/bin/../bin/tool', place.join('bin/tool'));
	const installed = [place.join('bin/tool')];
	const found = [
		{ path: place.join('bin/tool'), target: '../current/bin/../bin/tool' },
		{ path: place.join('current'), target: 'real' },
	];
	expect(links({ installed, host: { covers: [place.path] } })).toEqual(found);
	expect(links({ installed, home: place.path, reads: 'project' })).toEqual(found);
	expect(links({ installed, masks: [{ path: place.join('bin'), directory: true, reason: '' }] })).toEqual([found[0]]);
	expect(links({ installed, home: place.path })).toEqual([]);
	expect(links({ installed: [place.join('real/bin/tool')], host: { covers: [place.path] } })).toEqual([]);
});

test('links in a circle, to nothing, or out of the machine’s root lead nowhere, and harm nothing', () => {
	using place = temporaryDirectory();
	symlinkSync('b', place.join('a'));
	symlinkSync('a', place.join('b'));
	symlinkSync('missing', place.join('c'));
	symlinkSync('../../../../../../../../etc/../..', place.join('d'));
	const host = { covers: [place.path] };
	expect(links({ installed: [place.join('a')], host }).map(({ path }) => path)).toEqual([
		place.join('a'),
		place.join('b'),
	]);
	expect(links({ installed: [place.join('c/x')], host })).toHaveLength(1);
	expect(links({ installed: [place.join('d/etc')], host })).toHaveLength(1);
});

test('where a name in $PATH is another program, it leads to the running one', () => {
	using place = temporaryDirectory();
	const node = place.write('installs/node', '');
	const shim = place.write('shims/node', '#!/bin/sh');
	const host = { covers: [place.path] };
	expect(links({ installed: [node], nodeOnPath: shim, host })).toEqual([{ path: shim, target: node }]);
	expect(links({ installed: [node], nodeOnPath: node, host })).toEqual([]);
	expect(links({ installed: [node], nodeOnPath: shim })).toEqual([]);
});
