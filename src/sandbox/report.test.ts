import { expect, test } from 'vitest';
import { parseReport } from './report.ts';

const NOTHING = { init: null, ready: false, failure: null, execErrno: null, exit: null, signal: null, waiting: null };

test('lines are found in any order, a torn one is none', () => {
	expect(parseReport('')).toEqual(NOTHING);
	expect(parseReport('layers fd\ninit 42\nexit 7\n')).toEqual({ ...NOTHING, init: 42, ready: true, exit: 7 });
	expect(parseReport('init 42\nsignal 15\n')).toEqual({ ...NOTHING, init: 42, signal: 15 });
	expect(parseReport('waiting 2\nexit 3\n')).toEqual({ ...NOTHING, exit: 3, waiting: 2 });
	expect(parseReport('started\n')).toEqual({ ...NOTHING, ready: true });
	expect(parseReport('exec-failed 2\n')).toEqual({ ...NOTHING, execErrno: 2 });
	expect(parseReport('ini')).toEqual(NOTHING);
});

test('a failure has its step, its error, what it was done to, and what the kernel said', () => {
	expect(parseReport('fail 4 22 overlay create | overlay: bad option\n').failure).toEqual({
		index: 4,
		errno: 22,
		operation: 'overlay',
		text: 'create',
		kernelText: 'overlay: bad option',
	});
	expect(parseReport('fail 4 2 tree /a | b\n').failure).toMatchObject({ text: '/a', kernelText: 'b' });
	expect(parseReport('fail 0 1 unshare user,mount\n').failure).toMatchObject({ text: 'user,mount', kernelText: null });
});
