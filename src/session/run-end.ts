import type { Outcome } from '../sandbox/launch.ts';
import type { JoinedEnd } from './join-terms.ts';

/** How an outcome is written down. */
export function endOf(outcome: Outcome): JoinedEnd {
	switch (outcome.kind) {
		case 'exited':
		case 'not-executed':
			return { exit: outcome.code, signal: null };
		case 'killed':
			return { exit: null, signal: outcome.signal };
		case 'failed':
			return { exit: null, signal: null };
	}
}
