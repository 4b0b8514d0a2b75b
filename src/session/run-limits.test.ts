import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ordinaryAccount } from '../../test/support/accounts.ts';
import { asAccount } from '../../test/support/as-account.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { NO_LIMITS } from '../sandbox/limits.ts';
import { planLimits } from './run-limits.ts';

const BOTH = { memoryBytes: 4096, pids: 7 };

test('without limits there is nothing to be made', () => {
	expect(planLimits({ memoryBytes: null, pids: null }, null)).toMatchObject({ limits: NO_LIMITS, instead: null });
});

test('a group that is delegated limits all together, made only when it is to be entered', () => {
	using place = temporaryDirectory();
	place.write('cgroup.procs', '');
	place.write('cgroup.subtree_control', 'cpu memory pids\n');
	const { limits, instead, make } = planLimits(BOTH, { root: place.path, own: place.path });
	expect(limits.each).toEqual(NO_LIMITS.each);
	expect(instead).toBeNull();
	make();
	expect(readFileSync(`${limits.cgroup}/memory.max`, 'utf8')).toBe('4096');
	expect(readFileSync(`${limits.cgroup}/pids.max`, 'utf8')).toBe('7');
});

test('without one, each process and command is limited, and that is said', () => {
	const { limits, instead } = asAccount(ordinaryAccount(), () => planLimits(BOTH, null));
	expect(limits).toEqual({ cgroup: null, each: { data: 4096, nproc: 7 } });
	expect(instead).toBe(
		'--memory holds for each process, not for all together; --pids holds for each command that is run or joins, not for all together: no control group with memory and pids is delegated to this user',
	);
});
