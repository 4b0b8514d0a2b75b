import { chmodSync, linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { accounts } from '../../test/support/accounts.ts';
import { asAccount } from '../../test/support/as-account.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { allocatedBytes } from './allocated-bytes.ts';

const MIB = 1024 ** 2;

test.each(accounts())('a layer’s disk is counted by blocks, each inode once, as $name', (account) => {
	using place = temporaryDirectory();
	account.own(place.path);
	asAccount(account, () => {
		const upper = place.join('upper');
		mkdirSync(upper);
		const empty = allocatedBytes(upper) as number;
		expect(empty).toBeLessThan(MIB);
		writeFileSync(`${upper}/sparse`, '');
		truncateSync(`${upper}/sparse`, 10 * 1024 * MIB);
		expect(allocatedBytes(upper)).toBeLessThan(empty + MIB);
		writeFileSync(`${upper}/file`, Buffer.alloc(3 * MIB, 1));
		linkSync(`${upper}/file`, `${upper}/again`);
		symlinkSync('/', `${upper}/root`);
		const flat = allocatedBytes(upper) as number;
		expect(flat).toBeGreaterThanOrEqual(empty + 3 * MIB);
		expect(flat).toBeLessThan(empty + 4 * MIB);
		mkdirSync(`${upper}/a/b`, { recursive: true });
		writeFileSync(`${upper}/a/b/locked-away`, Buffer.alloc(2 * MIB, 1));
		chmodSync(`${upper}/a/b/locked-away`, 0);
		chmodSync(`${upper}/a`, 0);
		const deep = allocatedBytes(upper) as number;
		expect(deep).toBeGreaterThanOrEqual(flat + 2 * MIB);
		chmodSync(`${upper}/a`, 0o700);
	});
});

test('directories deeper than descriptors are held are counted', () => {
	using place = temporaryDirectory();
	const upper = place.join('upper');
	mkdirSync(upper);
	const before = process.cwd();
	process.chdir(upper);
	try {
		for (let depth = 0; depth < 300; depth++) {
			mkdirSync('d');
			process.chdir('d');
		}
		writeFileSync('f', Buffer.alloc(MIB, 1));
	} finally {
		process.chdir(before);
	}
	expect(allocatedBytes(upper)).toBeGreaterThanOrEqual(MIB);
});
