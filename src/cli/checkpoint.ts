import { Refusal } from '../base/refusal.ts';
import { askCheckpoint } from './ask-checkpoint.ts';
import type { CommandDefinition } from './command.ts';
import { channelInside } from './inside.ts';

/** Asks for a snapshot from inside the sandbox. */
export const checkpoint: CommandDefinition<object, [string?]> = {
	brief: 'Take a snapshot from inside the sandbox, maybe with a label',
	details:
		'For what runs in a session, such as an agent before it tries something. It can add to history and do nothing else; when nothing has changed since the last snapshot, also one that was taken by itself, none is made and the label is not kept. A few at once are taken, then one a second. Outside, use `snap`.',
	examples: ['checkpoint', 'checkpoint "tests pass"'],
	flags: {},
	positional: [
		{
			parse: String,
			brief: 'A remark, shown as its NOTE; `restore` goes by number or tag, not by this',
			placeholder: 'LABEL',
			optional: true,
		},
	],
	run({ cli }, label) {
		const channel = channelInside(cli.env);
		if (channel === null) {
			throw new Refusal('failed', 'not-inside', 'checkpoint works inside a session’s sandbox only', {
				hint: 'outside, use `dropcloth snap`',
			});
		}
		return askCheckpoint(channel, label ?? null);
	},
};
