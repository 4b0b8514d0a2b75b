import { describe, test } from 'vitest';
import { accounts } from '../../test/support/accounts.ts';
import { checkWatchedScans } from '../../test/support/watched-scans.ts';

describe.each(accounts())('as $name', (account) => {
	test('a scan of where something happened finds all that a scan of everything finds', () => {
		checkWatchedScans(account, 30);
	});
});
