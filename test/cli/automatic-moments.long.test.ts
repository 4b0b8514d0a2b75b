import { test } from 'vitest';
import { presentAccount } from '../support/accounts.ts';
import { AUTOMATIC_MOMENTS } from '../support/automatic-moments.ts';

test.each(Object.entries(AUTOMATIC_MOMENTS))(
	'%s: each of hundreds of checkpoints holds one moment',
	async (_, check) => {
		await check(presentAccount(), 300);
	},
);
