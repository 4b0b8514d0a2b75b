import { printable } from '../base/printable.ts';
import type { JoinedFacts } from '../session/owner-file.ts';
import type { QuotaState } from '../session/quota.ts';
import { recoverIfStale } from '../session/recover-stale.ts';
import { driftedPaths } from '../session/session-drift.ts';
import { type SessionStatus, sessionStatus } from '../session/session-status.ts';
import { chosenPlace, SESSION_ARGUMENT } from './choose.ts';
import type { Answer, CommandDefinition } from './command.ts';
import { count, sizeText, table, timeText } from './format.ts';

/** How a session is doing. */
export const status: CommandDefinition<object, [string?]> = {
	brief: 'Show a session’s position, its live run, the size of its layer, and whether its base moved',
	details: 'A session whose owner was killed is recovered on the way; the state is then stale-recovered.',
	examples: ['status', 'status api --json'],
	flags: {},
	positional: [SESSION_ARGUMENT],
	async run(invocation, given) {
		const place = chosenPlace(invocation, given);
		const recovered = await recoverIfStale(place, (text) => invocation.warn(text));
		const drift = driftedPaths(place);
		return answer(sessionStatus(place), recovered, drift);
	},
};

function answer(status: SessionStatus, recovered: boolean, drift: readonly string[]): Answer {
	const { sessionId, owner, basePath, position, head, changed, layerBytes, layerFiles, generation } = status;
	const state = recovered && status.state === 'stopped' ? 'stale-recovered' : status.state;
	const sandbox =
		owner === null
			? null
			: {
					backend: owner.backend,
					pid: owner.init,
					started: owner.started,
					argv: owner.argv,
					quota: owner.quota ?? null,
					joined: owner.joined ?? [],
				};
	const json = {
		sessionId,
		dbPath: status.dbPath,
		state,
		basePath,
		mounted: false,
		mounts: [],
		pid: owner?.pid ?? null,
		sandbox,
		generation,
		seeded: false,
		position,
		head,
		changed,
		unapplied: layerFiles,
		layerBytes,
		baseDrift: drift,
		keptLayers: status.keptLayers,
	};
	const rows = [
		['session', sessionId],
		[
			'state',
			owner === null
				? state
				: `${state}: process ${owner.pid} runs ${owner.argv.join(' ')} since ${timeText(owner.started)}`,
		],
		...joinedRows(owner?.joined ?? []),
		['base', basePath ?? 'none'],
		['position', `snapshot ${position}${changed ? ', with changes since' : ''}`],
		['layer', `${count(layerFiles, 'file')}, ${sizeText(layerBytes)}`],
		...quotaRows(owner?.quota),
		['base drift', drift.length === 0 ? 'none' : drift.join(', ')],
		...status.keptLayers.map((path) => ['kept layer', path]),
	];
	return { json, text: table(rows.map((row) => row.map(printable))) };
}

/** An owner of an older version says nothing of a quota. */
function quotaRows(quota: QuotaState | null | undefined): string[][] {
	if (!quota) return [];
	const { limitBytes, usedBytes, state } = quota;
	const last =
		state === 'reached' ? 'it is used up, and the command is ended' : `${sizeText(usedBytes)} when last told`;
	return [['quota', `${sizeText(limitBytes)}; ${last}`]];
}

function joinedRows(joined: readonly JoinedFacts[]): string[][] {
	return joined.map(({ run, pid, started, argv }) => [
		'joined',
		`run ${run}: process ${pid} runs ${argv.join(' ')} since ${timeText(started)}`,
	]);
}
