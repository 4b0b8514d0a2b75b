import { expect, test } from 'vitest';
import { parseSizeBytes } from './parse-size.ts';

test.each([
	['1K', 1024],
	['500M', 500 * 1024 ** 2],
	['2G', 2 * 1024 ** 3],
	['1.5GiB', 1.5 * 1024 ** 3],
	['0.3K', 307],
	['4TiB', 4 * 1024 ** 4],
])('%s is %d bytes', (text, bytes) => expect(parseSizeBytes(text)).toBe(bytes));

test.each(['', '0', '7', '0M', '-1M', '1MB', '1m', '1.M', '.5M', '1e3M', ' 1M', '1M ', '1MiBi', '9999999999K'])(
	'%j is no size',
	(text) => expect(() => parseSizeBytes(text)).toThrow('is not a size such as 500M, 2G or 1.5GiB'),
);
