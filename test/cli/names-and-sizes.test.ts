import { describe, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { HOSTILE_TREES, withstand } from '../support/hostile-trees.ts';
import { sessionRig } from '../support/session-rig.ts';

describe.each(accounts())('an agent of $name that makes', (account) => {
	test.each(HOSTILE_TREES)('$what finds it again, undoes and redoes it, and has it applied', (hostile) => {
		using rig = sessionRig(account);
		withstand(rig, hostile);
	});
});
