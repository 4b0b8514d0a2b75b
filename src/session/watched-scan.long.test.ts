import { test } from 'vitest';
import { presentAccount } from '../../test/support/accounts.ts';
import { checkWatchedScans } from '../../test/support/watched-scans.ts';

test('hundreds of times: a scan of where something happened finds all that a scan of everything finds', () => {
	checkWatchedScans(presentAccount(), 600);
});
