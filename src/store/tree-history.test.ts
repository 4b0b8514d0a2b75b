import fc from 'fast-check';
import { test } from 'vitest';
import { history, playHistory } from '../../test/support/play-history.ts';

test('every state reads as it was, whatever happened since', () => {
	fc.assert(fc.property(history, playHistory), { numRuns: 25 });
}, 120_000);
