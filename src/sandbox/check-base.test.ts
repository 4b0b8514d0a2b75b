import { expect, test } from 'vitest';
import { sampleRoot } from '../../test/support/sample-spec.ts';
import { type BaseRequest, checkBase } from './check-base.ts';

function refusal(path: string, change: Partial<BaseRequest> = {}): string | null {
	try {
		checkBase({
			roots: [sampleRoot('project', path), sampleRoot('home', '/home/me')],
			home: '/home/me',
			storePath: '/home/me/.local/share/dropcloth',
			force: false,
			user: { privileged: false },
			mountPoints: ['/'],
			...change,
		});
		return null;
	} catch (error) {
		return (error as { code: string }).code;
	}
}

test('a directory of its own is fine, also below /tmp, in /dev/shm, and above the store', () => {
	for (const path of ['/home/me/project', '/tmp/x', '/dev/shm/x', '/srv']) expect(refusal(path)).toBeNull();
	expect(refusal('/srv', { storePath: '/srv/.store' })).toBeNull();
});

test('home, or what holds it, only with --force', () => {
	for (const path of ['/home/me', '/home']) {
		expect(refusal(path)).toBe('base-refused');
		expect(refusal(path, { force: true })).toBeNull();
	}
});

test('the whole machine, what is made anew for a run, and the store: never', () => {
	for (const path of ['/', '/proc', '/sys/kernel', '/dev', '/home/me/.local/share/dropcloth/sessions']) {
		expect(refusal(path, { force: true })).toBe('base-refused');
	}
});

test('something mounted below the base: only with privileges; below home it is no obstacle', () => {
	const mountPoints = ['/', '/srv/p/volume'];
	expect(refusal('/srv/p', { mountPoints })).toBe('mount-below-base');
	expect(refusal('/srv/p', { mountPoints, user: { privileged: true } })).toBeNull();
	expect(refusal('/srv/p', { mountPoints: ['/', '/home/me/mnt'] })).toBeNull();
});
