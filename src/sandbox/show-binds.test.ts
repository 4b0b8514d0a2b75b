import { expect, test } from 'vitest';
import { showBinds } from './show-binds.ts';

test('one line for each mount, in order, in columns', () => {
	const mounts = [
		{ path: '/', source: '/', kind: 'read-only bind', reason: 'the rest' },
		{ path: '/p\n', source: '/store/upper', kind: 'overlay', reason: 'the project' },
	] as const;
	expect(showBinds({ operations: [], mounts }, { name: 'kernel', reason: 'it can' }).split('\n')).toEqual([
		'backend kernel: it can',
		'read-only bind  /     /             the rest',
		'overlay         /p\\n  /store/upper  the project',
		'',
	]);
});
