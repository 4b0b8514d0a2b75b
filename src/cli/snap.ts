import { printable } from '../base/printable.ts';
import { Refusal } from '../base/refusal.ts';
import { takeLiveSnapshot } from '../session/live-snapshot.ts';
import type { SnapshotRequest } from '../session/snapshot-session.ts';
import type { Snapshot } from '../store/snapshots.ts';
import { chosenPlace, SESSION_ARGUMENT, withOwnedSession } from './choose.ts';
import type { Answer, CommandDefinition, Invocation } from './command.ts';
import { count, sizeText } from './format.ts';
import { type Channel, channelInside, isStoreHidden } from './inside.ts';

interface Flags {
	readonly note?: string;
	readonly force: boolean;
}

/** Takes a snapshot by hand. */
export const snap: CommandDefinition<Flags, [string?, string?]> = {
	brief: 'Take a snapshot, maybe with a tag',
	details:
		'Always makes a new snapshot. Of a live session it freezes what runs inside for a moment. Inside the session’s own sandbox, alone or as `snap NAME TAG` with its name, it does what `checkpoint` does, with TAG as the label.',
	examples: ['snap', 'snap api before-upgrade'],
	flags: {
		note: { kind: 'parsed', parse: String, brief: 'A remark to keep with it', optional: true, placeholder: 'TEXT' },
		force: { kind: 'boolean', brief: 'Take the tag away from another snapshot', default: false, withNegated: false },
	},
	positional: [SESSION_ARGUMENT, { parse: String, brief: 'A name for it', placeholder: 'TAG', optional: true }],
	async run(invocation, given, name) {
		const tag = name ?? null;
		const { note = null, force } = invocation.flags;
		const channel = channelOf(invocation, given);
		if (channel !== null) return snapFromInside(invocation, channel, tag);
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

/** The channel when this runs in the sandbox of the very session that is meant. */
function channelOf({ cli, storePath }: Invocation<object>, given: string | undefined): Channel | null {
	const channel = channelInside(cli.env);
	const own = given === undefined || given === channel?.sessionId;
	return own && isStoreHidden(cli.env, storePath) ? channel : null;
}

async function snapFromInside(
	{ flags: { note, force }, warn }: Invocation<Flags>,
	channel: Channel,
	tag: string | null,
): Promise<Answer> {
	if (note !== undefined || force) {
		throw new Refusal('usage', 'not-from-inside', '--note and --force cannot be given inside a sandbox', {
			hint: 'name it by a label alone: `dropcloth checkpoint LABEL`',
		});
	}
	warn(`inside the sandbox this is \`dropcloth checkpoint\`${tag === null ? '' : ', and the tag is a label'}`);
	const { askCheckpoint } = await import('./ask-checkpoint.ts');
	return await askCheckpoint(channel, tag);
}

/** What a live session's owner has loaded already is loaded here only when there is none. */
async function takeStopped(
	invocation: Invocation<object>,
	given: string | undefined,
	meta: SnapshotRequest,
): Promise<Snapshot> {
	const { takeSnapshot } = await import('../session/snapshot-session.ts');
	return await withOwnedSession(invocation, given, (session) => takeSnapshot(session, meta));
}
