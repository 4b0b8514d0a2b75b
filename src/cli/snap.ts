import { printable } from '../base/printable.ts';
import { takeLiveSnapshot } from '../session/live-snapshot.ts';
import type { SnapshotRequest } from '../session/snapshot-session.ts';
import type { Snapshot } from '../store/snapshots.ts';
import { chosenPlace, SESSION_ARGUMENT, withOwnedSession } from './choose.ts';
import type { CommandDefinition, Invocation } from './command.ts';
import { count, sizeText } from './format.ts';

interface Flags {
	readonly note?: string;
	readonly force: boolean;
}

/** Takes a snapshot by hand. */
export const snap: CommandDefinition<Flags, [string?, string?]> = {
	brief: 'Take a snapshot, maybe with a tag',
	details: 'Always makes a new snapshot. Of a live session it freezes what runs inside for a moment.',
	examples: ['snap', 'snap api before-upgrade'],
	flags: {
		note: { kind: 'parsed', parse: String, brief: 'A remark to keep with it', optional: true, placeholder: 'TEXT' },
		force: { kind: 'boolean', brief: 'Take the tag away from another snapshot', default: false, withNegated: false },
	},
	positional: [SESSION_ARGUMENT, { parse: String, brief: 'A name for it', placeholder: 'TAG', optional: true }],
	async run(invocation, given, name) {
		const tag = name ?? null;
		const { note = null, force } = invocation.flags;
		const place = chosenPlace(invocation, given);
		const meta = { trigger: 'manual', tag, note, force } as const;
		const live = await takeLiveSnapshot(place, meta);
		const taken = live ?? (await takeStopped(invocation, given, meta));
		const { id, files, bytes } = taken;
		const frozenMs = live?.frozenMs ?? null;
		const named = tag === null ? '' : ` ${printable(tag)}`;
		return {
			json: { sessionId: place.id, id, tag, files, bytes, frozenMs },
			text: `took snapshot ${id}${named} of session ${place.id}: ${count(files, 'file')}, ${sizeText(bytes)}`,
		};
	},
};

/** What a live session's owner has loaded already is loaded here only when there is none. */
async function takeStopped(
	invocation: Invocation<object>,
	given: string | undefined,
	meta: SnapshotRequest,
): Promise<Snapshot> {
	const { takeSnapshot } = await import('../session/snapshot-session.ts');
	return await withOwnedSession(invocation, given, (session) => takeSnapshot(session, meta));
}
