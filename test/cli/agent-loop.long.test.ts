import { describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { agentDay } from '../support/agent-loop.ts';
import { Tmux } from '../support/tmux.ts';

/** How long the agent works for each account, half of it at a human pace and half at full speed. */
const MINUTES = Number(process.env['AGENT_LOOP_MINUTES'] ?? '4');
/** What happens when; printed, so that it can be given again. */
const SEED = Number(process.env['AGENT_LOOP_SEED'] ?? Date.now() % 1_000_000);

describe.each(accounts())('as $name', (account) => {
	test('a day of an agent that is killed and restored under its hands leaves nothing but sound repositories', async (context) => {
		if (!Tmux.isThere(account)) context.skip('there is no tmux');
		const log = (text: string) => process.stdout.write(`${new Date().toISOString()} ${account.name}: ${text}\n`);
		log(`${MINUTES} minutes, seed ${SEED}`);
		const half = (MINUTES * 60) / 2;
		const phases = [
			{ seconds: half, think: 3, calm: [4, 20] },
			{ seconds: half, think: 0, calm: [0.5, 6] },
		] as const;
		const deeds = await agentDay(account, { phases, every: 5, seed: SEED, log });
		log(JSON.stringify(deeds));
		expect(Math.min(deeds.kills, deeds.restores)).toBeGreaterThan(0);
	});
});
