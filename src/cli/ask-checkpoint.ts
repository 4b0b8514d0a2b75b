import { printable } from '../base/printable.ts';
import { Refusal } from '../base/refusal.ts';
import { askChannel } from '../session/channel-client.ts';
import { isLabel, LABEL_RULE } from '../session/channel-grammar.ts';
import type { Answer } from './command.ts';
import type { Channel } from './inside.ts';

/** Asks the owner of the sandbox around us for a snapshot. */
export async function askCheckpoint({ socketPath, sessionId }: Channel, label: string | null): Promise<Answer> {
	if (label !== null && !isLabel(label)) {
		throw new Refusal('usage', 'bad-label', `'${beginning(label)}' is no label: ${LABEL_RULE}`);
	}
	const { kind, snapshot: id } = await askChannel(socketPath, { verb: 'checkpoint', word: label });
	const taken = kind === 'ok';
	const named = label === null ? '' : ` '${printable(label)}'`;
	return {
		json: { sessionId, id, label: taken ? label : null, taken },
		text: taken ? `took snapshot ${id}${named}` : `nothing has changed since snapshot ${id}`,
	};
}

/** As much of it as a message has room for. */
function beginning(label: string): string {
	const most = 64;
	return label.length > most ? `${label.slice(0, most)}…` : label;
}
