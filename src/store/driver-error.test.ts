import { expect, test } from 'vitest';
import { Refusal } from '../base/refusal.ts';
import { storeFailure } from './driver-error.ts';

test.each([
	['SQLITE_FULL', 'full'],
	['ENOSPC', 'full'],
	['SQLITE_IOERR_WRITE', 'failed'],
	['EIO', 'failed'],
	['SQLITE_CORRUPT_VTAB', 'invalid'],
	['SQLITE_BUSY_SNAPSHOT', 'busy'],
])('%s is a refusal of kind %s that names the file', (code, kind) => {
	const cause = Object.assign(new Error('said the engine'), { code });
	const refusal = storeFailure(cause, '/store/s.db');
	expect(refusal).toBeInstanceOf(Refusal);
	expect(refusal).toMatchObject({ kind, cause, message: expect.stringContaining('/store/s.db') });
});

test('a constraint is a bug of ours and stays what it is', () => {
	const cause = Object.assign(new Error('unique'), { code: 'SQLITE_CONSTRAINT_UNIQUE' });
	expect(storeFailure(cause, '/store/s.db')).toBe(cause);
});
