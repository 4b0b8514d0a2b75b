import { chmodSync, linkSync, lstatSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fileChange } from '../../test/support/file-content.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import type { Content } from '../base/change.ts';
import { HostTree } from './host-tree.ts';
import { readInode } from './read-inode.ts';

/** Two windows of which the first is a hole, and another hole at the end. */
const HOLES: Content = {
	size: 200_000,
	*pieces() {
		yield { offset: 65_536, data: Buffer.alloc(65_536, 'n') };
	},
};

function apply(root: string, content: Content, durable: boolean, mode = 0o644): void {
	const { uid, gid } = readInode(`${root}/f`);
	const change = fileChange('f', '');
	const after = { ...(change.after as NonNullable<typeof change.after>), size: content.size, mode, uid, gid };
	const tree = HostTree.open(root, 'rw');
	try {
		tree.apply([{ ...change, after, content }], { durable, owner: 'exact' });
	} finally {
		tree.close();
	}
}

describe('a file of a tree that need not be durable', () => {
	test.each([0, 1, 70_000, 300_000])('of %d bytes is written over, and what becomes a hole reads as zeros', (old) => {
		using place = temporaryDirectory();
		const path = place.write('f', 'o'.repeat(old));
		const { ino } = lstatSync(path);
		apply(place.path, HOLES, false);
		expect(lstatSync(path).ino).toBe(ino);
		const expected = Buffer.alloc(HOLES.size);
		expected.fill('n', 65_536, 131_072);
		expect(readFileSync(path).equals(expected)).toBe(true);
	});

	test('has its set-uid bit and its times afterwards, which writing moves', () => {
		using place = temporaryDirectory();
		const path = place.write('f', 'old');
		chmodSync(path, 0o4755);
		apply(place.path, HOLES, false, 0o4755);
		expect(readInode(path)).toMatchObject({ mode: 0o4755, mtime: { sec: 1_700_000_000, nsec: 123_456_789 } });
	});

	test('is made anew when another name shares it, which keeps its bytes', () => {
		using place = temporaryDirectory();
		linkSync(place.write('f', 'old'), place.join('other'));
		apply(place.path, HOLES, false);
		expect(readFileSync(place.join('other'), 'utf8')).toBe('old');
	});
});

test('a file of a tree that is to be durable is replaced whole', () => {
	using place = temporaryDirectory();
	const path = place.write('f', 'old');
	const { ino } = lstatSync(path);
	apply(place.path, HOLES, true);
	expect(lstatSync(path).ino).not.toBe(ino);
});
