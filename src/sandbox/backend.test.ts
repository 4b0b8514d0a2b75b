import { expect, test } from 'vitest';
import { backendRefusal, chooseBackend } from './backend.ts';

test('fuse is refused in words, the others are the kernel’s', () => {
	expect(() => chooseBackend('fuse')).toThrow('comes in a later version');
	expect([chooseBackend('auto').name, chooseBackend('kernel').name]).toEqual(['kernel', 'kernel']);
});

test('auto says when FUSE could have served what the kernel cannot', () => {
	const below = { code: 'mount-below-base', why: 'something is mounted below', remedy: 'unmount it' };
	expect(backendRefusal('auto', below)).toMatchObject({
		kind: 'sandbox',
		code: 'mount-below-base',
		message: 'something is mounted below; the FUSE backend, which could serve it, comes in a later version',
		hint: 'unmount it',
	});
	expect(backendRefusal('kernel', below).message).toBe('something is mounted below');
	expect(backendRefusal('auto', { code: 'no-user-namespaces', why: 'off', remedy: null }).message).toBe('off');
	expect(backendRefusal('auto', { code: 'session-locked', why: 'owned', remedy: null }).kind).toBe('busy');
});
