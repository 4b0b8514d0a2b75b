import { expect, test } from 'vitest';
import { printable, showBinds } from './show-binds.ts';

test('one line for each mount, in order, in columns', () => {
	const mounts = [
		{ path: '/', source: '/', kind: 'read-only bind', reason: 'the rest' },
		{ path: '/p\n', source: '/store/upper', kind: 'overlay', reason: 'the project' },
	] as const;
	expect(showBinds({ operations: [], mounts }, { name: 'kernel', reason: 'it can' }).split('\n')).toEqual([
		'backend kernel: it can',
		'read-only bind  /       /             the rest',
		'overlay         /p\\x0a  /store/upper  the project',
		'',
	]);
});

test('a path stays on one line whatever bytes it has', () => {
	expect(printable('/a\nb\x1b[31m\udcff ü')).toBe('/a\\x0ab\\x1b[31m\\xff ü');
});
