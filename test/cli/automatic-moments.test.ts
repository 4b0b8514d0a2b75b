import { describe, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { AUTOMATIC_MOMENTS } from '../support/automatic-moments.ts';

describe.each(accounts())('as $name', (account) => {
	test.each(Object.entries(AUTOMATIC_MOMENTS))('%s: each automatic checkpoint holds one moment', async (_, check) => {
		await check(account, 8);
	});
});
