import { expect, test } from 'vitest';
import { tellsOfWrites } from './write-events.ts';

test.each([
	['5.15.0-91-generic', false],
	['6.1.0-57-arm64', false],
	['6.4.16', false],
	['6.5.0-1', true],
	['6.18.44-fc-v595', true],
	['7.0', true],
])('a kernel %s tells of writes through an overlay: %s', (release, tells) => {
	expect(tellsOfWrites(release)).toBe(tells);
});
