import { stopSession } from '../session/stop-session.ts';
import { chosenPlace, SESSION_ARGUMENT } from './choose.ts';
import type { CommandDefinition } from './command.ts';

/** Ends a live run. */
export const stop: CommandDefinition<object, [string?]> = {
	brief: 'End the live run of a session and take in what it did',
	examples: ['stop api'],
	flags: {},
	positional: [SESSION_ARGUMENT],
	async run(invocation, given) {
		const place = chosenPlace(invocation, given);
		const stopped = await stopSession(place);
		return {
			json: { sessionId: place.id, stopped },
			text: stopped ? `stopped session ${place.id}` : `session ${place.id} is not live`,
		};
	},
};
