import { mkdirSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { CREDENTIAL_PLACES } from './credential-places.ts';
import { AGENT_PLACES } from './home-places.ts';
import { findMasks, type MaskRequest, maskWarning } from './masks.ts';

let place: TemporaryDirectory;
let home: string;
beforeEach(() => {
	place = temporaryDirectory();
	home = place.join('home');
	place.write('home/.ssh/id_ed25519', 'key');
	place.write('home/.netrc', 'machine');
	place.write('home/.config/gh/hosts.yml', 'token');
	place.write('home/.config/other', '');
	mkdirSync(place.join('store'));
});
afterEach(() => place[Symbol.dispose]());

function found(change: Partial<MaskRequest> = {}): string[] {
	const masks = findMasks({ home, mask: [], unmask: [], storePath: place.join('store'), ...change });
	return masks.map(({ path, directory }) => `${directory ? 'd' : 'f'} ${path.slice(place.path.length + 1)}`).sort();
}

const LISTED = ['d home/.config/gh', 'd home/.ssh', 'd store', 'f home/.netrc'];

test('listed places that exist are hidden, with their kind, and so is the store', () => {
	expect(found()).toEqual(LISTED);
});

test('--mask adds a place, and one that does not exist is none', () => {
	expect(found({ mask: [place.join('home/.config/other'), '/nope'] })).toEqual(
		[...LISTED, 'f home/.config/other'].sort(),
	);
});

test('--unmask opens a place and those below it, but never the store', () => {
	expect(found({ unmask: [place.join('home/.netrc'), place.join('store')] })).not.toContain('f home/.netrc');
	expect(found({ unmask: [place.join('home/.config')] })).not.toContain('d home/.config/gh');
	expect(found({ unmask: [place.path] })).toEqual(['d store']);
});

test('a link is followed: what it leads to is hidden', () => {
	place.write('elsewhere/secret', '');
	symlinkSync('../elsewhere', place.join('home/.aws'));
	symlinkSync('/nope', place.join('home/.kube'));
	expect(found()).toEqual([...LISTED, 'd elsewhere'].sort());
});

test('without a home directory only the absolute places and the store are looked for', () => {
	expect(found({ home: null })).toEqual(['d store']);
	expect(found({ home: place.join('nope') })).toEqual(['d store']);
});

test('a mask of what is not there is told about, for it hides nothing', () => {
	const there = place.join('home/.netrc');
	expect(maskWarning([there])).toBeNull();
	expect(maskWarning([there, '/nowhere/secret'])).toMatch(/^nothing is at \/nowhere\/secret: /);
});

test('the list names each place once, with a reason, and none of the agents’ own', () => {
	const paths = CREDENTIAL_PLACES.map(({ path }) => path);
	expect(new Set(paths).size).toBe(paths.length);
	expect(CREDENTIAL_PLACES.filter(({ reason }) => reason === '')).toEqual([]);
	expect(AGENT_PLACES.filter(({ path }) => paths.includes(path))).toEqual([]);
	for (const needed of [
		'.ssh',
		'.gnupg',
		'.aws',
		'.azure',
		'.config/gcloud',
		'.kube',
		'.docker',
		'.config/gh',
		'.netrc',
		'.npmrc',
		'.pypirc',
		'.cargo/credentials.toml',
		'.mozilla',
		'.password-store',
		'.bash_history',
	]) {
		expect(paths).toContain(needed);
	}
});
