import { mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { layerState } from './layer-state.ts';
import type { SandboxRoot } from './sandbox-spec.ts';

test('a layer is asked without following what is in it', () => {
	using place = temporaryDirectory();
	place.write('upper/file', '');
	place.write('real/inner', '');
	mkdirSync(place.join('upper/directory'));
	symlinkSync(place.join('real'), place.join('upper/link'));
	const root: SandboxRoot = { role: 'project', path: '/p', lowers: [], upper: place.join('upper'), work: '' };
	const state = (path: string) => layerState([root], path);
	expect(state('/p')).toBe('untouched');
	expect(state('/p/nothing')).toBe('untouched');
	expect(state('/p/nothing/below')).toBe('untouched');
	expect(state('/p/file')).toBe('other');
	expect(state('/p/directory')).toBe('directory');
	expect(state('/p/link')).toBe('symlink');
	expect(state('/p/link/inner')).toBe('gone');
	expect(state('/p/file/below')).toBe('gone');
	expect(state('/elsewhere')).toBe('untouched');
});
