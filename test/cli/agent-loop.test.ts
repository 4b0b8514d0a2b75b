import { describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { agentDay } from '../support/agent-loop.ts';
import { Tmux } from '../support/tmux.ts';

describe.each(accounts())('as $name', (account) => {
	test('an agent that is killed and restored under its hands leaves nothing but sound repositories', async (context) => {
		if (!Tmux.isThere(account)) context.skip('there is no tmux');
		const said: string[] = [];
		const day = {
			phases: [{ seconds: 10, think: 0, calm: [0.2, 1.5] }],
			every: 7,
			seed: 1,
			log: (text: string) => said.push(text),
		} as const;
		const { kills, restores, snapshots } = await agentDay(account, day);
		expect(Math.min(kills, restores, snapshots), said.join('\n')).toBeGreaterThan(0);
	}, 120_000);
});
