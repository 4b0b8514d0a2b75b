import { discardSession } from '../session/discard-session.ts';
import { chosenPlace, SESSION_BRIEF } from './choose.ts';
import type { CommandDefinition } from './command.ts';
import { confirm } from './confirm.ts';

interface Flags {
	readonly yes: boolean;
}

/** Throws a session away. */
export const discard: CommandDefinition<Flags, [string]> = {
	brief: 'Throw a session away with all its history; the base is not touched',
	examples: ['discard api', 'discard api --yes'],
	flags: { yes: { kind: 'boolean', brief: 'Do not ask', default: false, withNegated: false } },
	positional: [{ parse: String, brief: SESSION_BRIEF, placeholder: 'SESSION' }],
	async run(invocation, given) {
		const place = chosenPlace(invocation, given);
		await confirm(invocation.cli, invocation.flags.yes, `Throw away session ${place.id} and everything in it`);
		await discardSession(place);
		return { json: { sessionId: place.id, discarded: true }, text: `discarded session ${place.id}` };
	},
};
