import { collectSessionGarbage, type SessionGcReport } from '../session/collect-session.ts';
import type { KeptWhy } from '../store/retention.ts';
import { SESSION_ARGUMENT, withOwnedSession } from './choose.ts';
import type { CommandDefinition } from './command.ts';
import { count, sizeText } from './format.ts';
import { parseDurationSeconds } from './parse-duration.ts';

interface Flags {
	readonly keepLast?: number;
	readonly keepWithin?: number;
	readonly dryRun: boolean;
}

/** Drops snapshots that nobody needs and gives their space back. */
export const gc: CommandDefinition<Flags, [string?]> = {
	brief: 'Drop old snapshots that nothing points at, and give their space back',
	details:
		'Without --keep-last and --keep-within, drops what is older than seven days and reachable neither from the position, nor from a tag, nor by redo, and thins out the checkpoints that were taken automatically: all of the last hour stay, then one per five minutes, after a day one per hour, after a week one per day. That thinning also happens by itself. With one of them, all else goes, whatever its age, also states that `undo` would step back to. The position, tagged snapshots and the redo trail always stay; the record of runs is never touched. Works on a disk that is nearly full: some 4 MiB are enough, whatever the size of the session.',
	examples: ['gc api', 'gc api --keep-last 20', 'gc api --keep-within 2d --dry-run'],
	flags: {
		keepLast: {
			kind: 'parsed',
			parse: parseCount,
			brief: 'Keep so many of the newest, and drop the others',
			optional: true,
			placeholder: 'N',
		},
		keepWithin: {
			kind: 'parsed',
			parse: parseDurationSeconds,
			brief: 'Keep what is younger, and drop the others: 90s, 30m, 12h, 7d',
			optional: true,
			placeholder: 'AGE',
		},
		dryRun: { kind: 'boolean', brief: 'Say what would go, and drop nothing', default: false, withNegated: false },
	},
	positional: [SESSION_ARGUMENT],
	run: (invocation, given) =>
		withOwnedSession(invocation, given, (session) => {
			const { keepLast, keepWithin, dryRun } = invocation.flags;
			const report = collectSessionGarbage(session, { keepLast, keepWithinSeconds: keepWithin }, dryRun);
			const { dropped, blobBytes, spared, kept } = report;
			const verb = dryRun ? 'would drop' : 'dropped';
			const text = [
				`${verb} ${count(dropped.length, 'snapshot')} of session ${session.id} and ${sizeText(blobBytes)} of content`,
				`${dryRun ? 'would keep' : 'kept'} ${count(kept.length, 'snapshot')}: ${keptText(kept)}`,
				...spared.map(({ id, why }) => `  kept snapshot ${id}: ${why}`),
			].join('\n');
			return { json: { sessionId: session.id, ...report }, text };
		}),
};

type Kept = SessionGcReport['kept'];

const WHY: Readonly<Record<KeptWhy, string>> = {
	position: 'position',
	tagged: 'tagged',
	redo: 'for redo',
	newest: 'newest',
	young: 'young enough',
	'grown from': 'that these grew from',
};

/** How many stay for each reason, in the order in which the reasons come up. */
function keptText(kept: Kept): string {
	const counts = new Map<string, number>();
	for (const { why } of kept) {
		const text = why in WHY ? WHY[why as KeptWhy] : why;
		counts.set(text, (counts.get(text) ?? 0) + 1);
	}
	return [...counts].map(([why, number]) => `${number} ${why}`).join(', ');
}

function parseCount(text: string): number {
	if (/^\d{1,9}$/.test(text)) return Number(text);
	throw new Error(`${text} is not a number`);
}
