import { isWithin } from '../base/paths.ts';
import { printable } from '../base/printable.ts';
import { Refusal } from '../base/refusal.ts';
import { type DiffEntry, diffViews } from '../history/diff.ts';
import { writePatch } from '../history/patch.ts';
import type { Point } from '../history/refs.ts';
import { statText } from '../history/stat-text.ts';
import { refreshLive } from '../session/live-snapshot.ts';
import { belowProject } from '../session/project-path.ts';
import { readSnapshots } from '../session/read-snapshots.ts';
import type { Session } from '../session/session.ts';
import { driftedPaths } from '../session/session-drift.ts';
import { type ComparedTree, SessionViews } from '../session/session-views.ts';
import { chosenPlace, SESSION_ARGUMENT, withSession } from './choose.ts';
import { type Answer, type CommandDefinition, endQuietlyOnBrokenPipe, type Invocation } from './command.ts';
import { count } from './format.ts';

interface Flags {
	readonly patch: boolean;
	readonly stat: boolean;
	readonly nameStatus: boolean;
	readonly home: boolean;
}

const REF = (brief: string, placeholder: string) => ({ parse: String, brief, placeholder, optional: true }) as const;

/** What differs between two points of history. */
export const diff: CommandDefinition<Flags, [string?, string?, string?]> = {
	brief: 'Show what differs: between the base and now, or between two points of history',
	details:
		'A and B are snapshots by number or tag, @ for the present, @~2, or base for the host directory as it is. Paths follow after --. Deletions come first and are never cut.',
	examples: ['diff', 'diff api 3 5', 'diff api base before-upgrade --stat', 'diff api --patch -- src'],
	flags: {
		patch: { kind: 'boolean', brief: 'A unified patch that `git apply` takes', default: false, withNegated: false },
		stat: {
			kind: 'boolean',
			brief: 'Lines added and removed, a row for each file',
			default: false,
			withNegated: false,
		},
		nameStatus: {
			kind: 'boolean',
			brief: 'Nothing but a letter and a path a row, for scripts',
			default: false,
			withNegated: false,
		},
		home: { kind: 'boolean', brief: 'The session’s home directory too', default: false, withNegated: false },
	},
	positional: [
		SESSION_ARGUMENT,
		REF('From here; the base when left out', 'A'),
		REF('To here; the present when left out', 'B'),
	],
	takesCommand: true,
	async run(invocation, given, a = 'base', b = '@') {
		if ([invocation.flags.patch, invocation.flags.stat, invocation.flags.nameStatus].filter(Boolean).length > 1) {
			throw new Refusal('usage', 'one-form', '--patch, --stat and --name-status exclude each other');
		}
		if ([a, b].some((ref) => ref.startsWith('@'))) await refreshLive(chosenPlace(invocation, given), invocation.warn);
		const answer = await withSession(invocation, given, (session) =>
			readSnapshots(session, [a, b], (points) => compare(invocation, session, [a, b], points)),
		);
		return [a, b].includes('base') ? withDrift(invocation, given, answer) : answer;
	},
};

/** Says which of the paths that the session changed were changed on the host as well. */
function withDrift(invocation: Invocation<Flags>, given: string | undefined, answer: Answer): Answer {
	const drift = driftedPaths(chosenPlace(invocation, given));
	if (drift.length > 0) invocation.warn(`changed on the host too: ${drift.map(printable).join(', ')}`);
	return { ...answer, json: { ...(answer.json as object), baseDrift: drift } };
}

type Two<T> = readonly [T, T];

function compare(invocation: Invocation<Flags>, session: Session, [a, b]: Two<string>, [from, to]: Two<Point>): Answer {
	const include = pathFilter(invocation, session);
	const views = new SessionViews(session.store);
	try {
		const trees = session.workRoots(invocation.flags.home).map((root) => {
			const tree = views.compare(root, from, to);
			return {
				tree,
				entries: diffViews(tree.from, tree.to, tree.candidates, { include, hashes: invocation.flags.json }),
			};
		});
		const changes = trees.flatMap(({ tree, entries }) => entries.map((entry) => ({ ...entry, root: tree.root.role })));
		return {
			json: { sessionId: session.id, from: a, to: b, changes },
			text: invocation.flags.json ? '' : textOf(invocation, trees),
		};
	} finally {
		views.close();
	}
}

interface Listed {
	readonly tree: ComparedTree;
	readonly entries: readonly DiffEntry[];
}

function textOf({ flags, warn }: Invocation<Flags>, trees: readonly Listed[]): string {
	const texts = trees.map(({ tree, entries }) => {
		if (flags.patch) return patchText(tree, entries, warn);
		if (flags.stat) return statText(entries, tree.from, tree.to, printable).trimEnd();
		const lines = entries.map((entry) => pathLine(entry, tree.root.role));
		return (flags.nameStatus || lines.length === 0 ? lines : [...lines, summary(entries)]).join('\n');
	});
	return texts.filter((text) => text !== '').join('\n');
}

function summary(entries: readonly DiffEntry[]): string {
	const counts = new Map<string, number>();
	for (const { change } of entries) counts.set(change, (counts.get(change) ?? 0) + 1);
	return [...counts].map(([change, number]) => `${number} ${change}`).join(', ');
}

/** A patch has bytes that are no text; they go out as they are. */
function patchText({ from, to }: ComparedTree, entries: readonly DiffEntry[], warn: (text: string) => void): string {
	const untold = new Map<string, number>();
	const pieces = [...writePatch(entries, from, to, (_, why) => untold.set(why, (untold.get(why) ?? 0) + 1))];
	for (const [why, number] of untold) warn(`left out of the patch: ${count(number, 'path')} (${why})`);
	const bytes = Buffer.concat(pieces);
	process.stdout.on('error', endQuietlyOnBrokenPipe);
	process.stdout.write(bytes);
	return '';
}

const LETTERS: Readonly<Record<DiffEntry['change'], string>> = {
	added: 'A',
	removed: 'D',
	modified: 'M',
	renamed: 'R',
	mode: 'X',
	type: 'T',
};

function pathLine({ change, path, fromPath, kind }: DiffEntry, role: string): string {
	const shown = `${role === 'project' ? '' : `${role}:`}${printable(path)}${kind === 'directory' ? '/' : ''}`;
	return `${LETTERS[change]}\t${fromPath === undefined ? '' : `${printable(fromPath)} -> `}${shown}`;
}

function pathFilter({ cli }: Invocation<Flags>, session: Session): (path: string) => boolean {
	if (cli.command === null || cli.command.length === 0) return () => true;
	const chosen = cli.command.map((path) => belowProject(path, session.project.basePath, cli.cwd));
	return (path) => chosen.some((prefix) => isWithin(path, prefix));
}
