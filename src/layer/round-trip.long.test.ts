import { describe, it } from 'vitest';
import { accounts } from '../../test/support/accounts.ts';
import { checkRoundTrips } from '../../test/support/upper-world.ts';

describe.each(accounts())('as $name', (account) => {
	it('what scans take in is laid out as it was, and earlier states come back', () => {
		checkRoundTrips(account, 300);
	});
});
