import type { SurfaceEntry } from '../apply/executable-surface.ts';
import type { ApplySummary } from '../apply/plan-apply.ts';
import { printable } from '../base/printable.ts';
import { Refusal } from '../base/refusal.ts';
import { resolveRef } from '../history/refs.ts';
import {
	abortSessionApply,
	continueSessionApply,
	type PlannedPath,
	PreparedApply,
	type SessionApply,
	undoSessionApply,
} from '../session/apply-session.ts';
import type { OwnedSession } from '../session/session.ts';
import { SESSION_ARGUMENT, withOwnedSession } from './choose.ts';
import type { Answer, CommandDefinition, Invocation } from './command.ts';
import { confirm } from './confirm.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { count } from './format.ts';

interface Flags {
	readonly at?: string;
	readonly only?: readonly string[];
	readonly ours: boolean;
	readonly theirs: boolean;
	readonly dryRun: boolean;
	readonly yes: boolean;
	readonly allowExec: boolean;
	readonly continue: boolean;
	readonly abort: boolean;
	readonly undo: boolean;
}

const off = (brief: string) => ({ kind: 'boolean', brief, default: false, withNegated: false }) as const;

/** Writes a session's changes into the host directory. */
export const apply: CommandDefinition<Flags, [string?]> = {
	brief: 'Write the session’s changes into the real directory: the only command that does',
	details:
		'What the host changed since is merged line by line where both sides changed text; what cannot be merged is a conflict, and then nothing is written (exit 6). What the host would later run because of the apply (hooks, git configuration, scripts) is listed and asked for apart: --allow-exec says yes to it, --yes to the rest.',
	examples: [
		'apply api --dry-run',
		'apply api --yes',
		"apply api --only 'src/**' --yes --allow-exec",
		'apply api --undo',
	],
	flags: {
		at: {
			kind: 'parsed',
			parse: String,
			brief: 'Apply this snapshot instead of the present',
			optional: true,
			placeholder: 'REF',
		},
		only: {
			kind: 'parsed',
			parse: String,
			brief: 'Apply only paths that match; may be repeated',
			optional: true,
			variadic: true,
			placeholder: 'GLOB',
		},
		ours: off('In a conflict take the session’s side'),
		theirs: off('In a conflict keep the host’s side'),
		dryRun: off('Say what would be written, and write nothing'),
		yes: off('Do not ask'),
		allowExec: off('Accept changes to what the host runs'),
		continue: off('Make an apply whole that was cut short'),
		abort: off('Put the host back to before an apply that was cut short'),
		undo: off('Put the host back to before the last apply'),
	},
	positional: [SESSION_ARGUMENT],
	run: (invocation, given) =>
		withOwnedSession(invocation, given, (session) => {
			const { flags } = invocation;
			checkFlags(flags);
			if (flags.continue || flags.abort || flags.undo) return resume(invocation, session);
			return applyNow(invocation, session, requestOf(flags, session));
		}),
};

function checkFlags({ ours, theirs, continue: goOn, abort, undo, dryRun, at, only }: Flags): void {
	if (ours && theirs) throw new Refusal('usage', 'two-sides', '--ours and --theirs exclude each other');
	if ([goOn, abort, undo].filter(Boolean).length > 1) {
		throw new Refusal('usage', 'one-way', '--continue, --abort and --undo exclude each other');
	}
	if ((goOn || abort || undo) && (dryRun || ours || theirs || at !== undefined || only !== undefined)) {
		throw new Refusal(
			'usage',
			'whole-apply',
			'--continue, --abort and --undo go with none of --dry-run, --at, --only, --ours and --theirs',
			{ hint: 'they concern the last apply as a whole' },
		);
	}
}

function requestOf({ at, only = [], ours, theirs }: Flags, { store }: OwnedSession): SessionApply {
	const point = at === undefined ? 'now' : resolveRef(store, at);
	if (point === 'base') throw new Refusal('usage', 'not-a-snapshot', '--at base: the base is what is applied to');
	return { snapshot: point === 'now' ? null : point, only, resolve: ours ? 'ours' : theirs ? 'theirs' : 'ask' };
}

async function applyNow(invocation: Invocation<Flags>, session: OwnedSession, request: SessionApply): Promise<Answer> {
	const { cli, flags } = invocation;
	using prepared = PreparedApply.plan(session, request);
	const summary = prepared.summary(flags.dryRun);
	if (!flags.dryRun) prepared.refuseConflicts();
	if (!flags.dryRun && !prepared.isNothing) {
		if (cli.canAsk && !flags.yes) cli.messages.write(`${planText(session, prepared, summary, false)}\n`);
		await allow(invocation, session, summary);
	}
	if (!flags.dryRun) prepared.write();
	const text = prepared.isNothing ? 'nothing to apply' : planText(session, prepared, summary, !flags.dryRun);
	const exit = summary.conflicts.length > 0 ? EXIT_CODES.conflict.code : 0;
	return { json: { sessionId: session.id, ...summary, paths: prepared.paths() }, text, exit };
}

/** Two separate yeses: one for the files, one for what the host will run because of them. */
async function allow(
	{ cli, flags }: Invocation<Flags>,
	session: OwnedSession,
	{ executableSurface }: ApplySummary,
): Promise<void> {
	if (executableSurface.length > 0 && !flags.allowExec && !cli.canAsk) {
		throw new Refusal(
			'failed',
			'executable-surface',
			`this would change what the host runs: ${surfaceList(executableSurface)}`,
			{
				hint: 'look at it with --dry-run, then give --allow-exec, or leave it out with --only',
				details: { executableSurface },
			},
		);
	}
	await confirm(cli, flags.yes, `Write this into ${session.project.basePath}`);
	if (executableSurface.length === 0) return;
	await confirm(cli, flags.allowExec, `It changes what the host runs: ${surfaceList(executableSurface)}. Go on`);
}

function surfaceList(entries: readonly SurfaceEntry[]): string {
	return entries.map(({ path, reason }) => `${printable(path)} (${reason})`).join(', ');
}

function planText(session: OwnedSession, prepared: PreparedApply, summary: ApplySummary, done: boolean): string {
	const { applied, removed, merged, conflicts, executableSurface } = summary;
	const of = (what: PlannedPath['what']) => prepared.paths().filter((path) => path.what === what);
	const shown = ({ root, path }: { root: string; path: string }) =>
		`${root === 'project' ? '' : `${root}:`}${printable(path)}`;
	const touched = of('touched').length;
	return [
		`${done ? 'wrote' : 'would write'} ${count(applied, 'path')} and ${done ? 'removed' : 'remove'} ${removed} in ${printable(session.project.basePath ?? '')}${merged === 0 ? '' : `, ${merged} of them merged`}`,
		...of('removed').map((path) => `  D ${shown(path)}`),
		...of('written').map((path) => `  W ${shown(path)}`),
		...(touched === 0 ? [] : [`  and ${count(touched, 'path')} of which times or owners alone change`]),
		...conflicts.map((conflict) => `  conflict: ${shown(conflict)}: ${conflict.reason}`),
		...executableSurface.map(({ path, reason }) => `  the host would run: ${printable(path)} (${reason})`),
	].join('\n');
}

async function resume({ cli, flags }: Invocation<Flags>, session: OwnedSession): Promise<Answer> {
	const { id } = session;
	if (flags.continue) {
		continueSessionApply(session);
		return { json: { sessionId: id, continued: true }, text: `made the apply of session ${id} whole` };
	}
	if (flags.abort) {
		const kept = abortSessionApply(session);
		const rest =
			kept.length === 0 ? '' : `; the host had changed these itself, they stay: ${kept.map(printable).join(', ')}`;
		return {
			json: { sessionId: id, aborted: true, kept },
			text: `put the host back to before the apply of session ${id}${rest}`,
		};
	}
	await confirm(cli, flags.yes, `Put ${session.project.basePath} back to before the last apply`);
	undoSessionApply(session);
	return { json: { sessionId: id, undone: true }, text: `put the host back to before the last apply of session ${id}` };
}
