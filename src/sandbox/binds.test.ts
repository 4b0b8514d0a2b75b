import { symlinkSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sampleRoot } from '../../test/support/sample-spec.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { type BindRequest, bindWarning, findBinds, parseBind } from './binds.ts';

let place: TemporaryDirectory;
beforeEach(() => {
	place = temporaryDirectory();
	place.write('data/file', '');
	place.write('store/sessions', '');
	place.write('project/inner/file', '');
	place.write('other/file', '');
});
afterEach(() => place[Symbol.dispose]());

function binds(change: Partial<BindRequest>) {
	return findBinds({
		bind: [],
		roBind: [],
		roots: [{ ...sampleRoot('project', place.join('project')), upper: place.join('upper') }],
		storePath: place.join('store'),
		madeAnew: ['/tmp/made'],
		...change,
	});
}

const message = (change: Partial<BindRequest>) => {
	try {
		binds(change);
		return null;
	} catch (error) {
		return (error as Error).message;
	}
};

test('P is shown where it is, P:Q elsewhere, and only --bind is writable', () => {
	const data = place.join('data');
	expect(binds({ bind: [data], roBind: [`${data}:/tmp/made/x`] })).toEqual([
		{ source: data, target: '/tmp/made/x', directory: true, writable: false, reason: '--ro-bind' },
		{ source: data, target: data, directory: true, writable: true, reason: '--bind' },
	]);
});

test('a name that holds a colon can be given when it exists', () => {
	const odd = place.write('with:/colon', '');
	expect(parseBind(odd)).toEqual({ source: odd, target: null });
	expect(parseBind('/nope:/tmp/x')).toEqual({ source: '/nope', target: '/tmp/x' });
	expect(parseBind('/nope:x')).toEqual({ source: '/nope:x', target: null });
});

test('a link is followed to what it names', () => {
	symlinkSync('data', place.join('link'));
	expect(binds({ roBind: [place.join('link')] })[0]?.source).toBe(place.join('data'));
});

test('what cannot be is refused with the path and the reason', () => {
	const data = place.join('data');
	expect(message({ bind: ['/nope'] })).toBe('--bind /nope: /nope does not exist or cannot be reached');
	expect(message({ bind: [place.join('store')] })).toMatch('lies in the store');
	expect(message({ bind: [`${data}:/`] })).toMatch("/ is always the sandbox's own");
	expect(message({ bind: [`${data}:${place.join('project')}`] })).toMatch('is shown as the session has it (project)');
	expect(message({ roBind: [`${data}:${place.join('nowhere')}`] })).toMatch('nothing is ever made on the host');
	expect(message({ roBind: [`${data}:${place.join('other/file')}`] })).toMatch('one of the two is a directory');
});

test('a place that the session has made counts, one that it replaced does not', () => {
	place.write('upper/made/file', '');
	symlinkSync('/etc', place.join('upper/inner'));
	expect(binds({ roBind: [`${place.join('data')}:${place.join('project/made')}`] })).toHaveLength(1);
	expect(message({ roBind: [`${place.join('data')}:${place.join('project/inner')}`] })).toMatch(
		'is no more in the session',
	);
});

test('a warning names the places whose writes reach the host', () => {
	const data = place.join('data');
	expect(bindWarning(binds({ roBind: [data] }))).toBeNull();
	expect(bindWarning(binds({ bind: [data] }))).toBe(`writes to ${data} reach the host and are in no snapshot (--bind)`);
});
