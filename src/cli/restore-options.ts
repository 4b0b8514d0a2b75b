import { resolve } from 'node:path';
import type { FlagParametersForType } from '@stricli/core';
import { isWithin } from '../base/paths.ts';
import { printable } from '../base/printable.ts';
import { Refusal } from '../base/refusal.ts';
import type { RestoreOutcome, RestoreScope } from '../session/restore-session.ts';
import type { OwnedSession } from '../session/session.ts';
import type { Answer } from './command.ts';
import type { CliContext } from './context.ts';
import { count } from './format.ts';

/** Flags of every command that puts a session back to another state. */
export interface RestoreFlags {
	readonly path?: readonly string[];
	readonly home: boolean;
	readonly dryRun: boolean;
	readonly yes: boolean;
}

export const RESTORE_FLAGS: FlagParametersForType<RestoreFlags, CliContext> = {
	path: {
		kind: 'parsed',
		parse: String,
		brief: 'Only this path, below the project; may be repeated',
		optional: true,
		variadic: true,
		placeholder: 'PATH',
	},
	home: { kind: 'boolean', brief: 'The session’s home directory too', default: false, withNegated: false },
	dryRun: { kind: 'boolean', brief: 'Say what would change, and change nothing', default: false, withNegated: false },
	yes: { kind: 'boolean', brief: 'Do not ask', default: false, withNegated: false },
};

/** What the flags ask for. Paths may be absolute, or relative to the current directory when that lies in the base. */
export function restoreScope({ path = [], home }: RestoreFlags, session: OwnedSession, cwd: string): RestoreScope {
	return { paths: path.map((given) => belowProject(given, session.project.basePath, cwd)), withHome: home };
}

/** A user's path as a path below the project. Throws Refusal 'usage' for one that is outside. */
export function belowProject(given: string, basePath: string | null, cwd: string): string {
	if (basePath === null) return given.replace(/^\/+|\/+$/g, '');
	const inside = isWithin(cwd, basePath) ? cwd : basePath;
	const absolute = resolve(inside, given);
	if (!isWithin(absolute, basePath)) {
		throw new Refusal('usage', 'path-outside', `${given} is not below the project ${basePath}`, {
			hint: 'name a path in the project',
		});
	}
	return absolute === basePath ? '' : absolute.slice(basePath === '/' ? 1 : basePath.length + 1);
}

/** How many paths a restore changes, for the question and for the answer. */
export function changedPaths(changes: RestoreOutcome['changes']): number {
	return changes.reduce((sum, tree) => sum + tree.changes.length, 0);
}

/** What a restore says when it is done, or when it only would have been. */
export function restoreAnswer(
	session: OwnedSession,
	outcome: Omit<RestoreOutcome, 'present'> & { present: number | null },
	dryRun: boolean,
): Answer {
	const { target, present, changes } = outcome;
	const paths = changes.flatMap(({ root, changes: list }) =>
		list.map(({ path }) => (root.role === 'project' ? path : `${root.role}:${path}`)),
	);
	const verb = dryRun ? 'would restore' : 'restored';
	const kept = present === null ? '' : `; what was there is snapshot ${present}`;
	const text = [
		`${verb} snapshot ${target} of session ${session.id}: ${count(paths.length, 'path')} changed${kept}`,
		...(dryRun ? paths.map((path) => `  ${printable(path === '' ? '.' : path)}`) : []),
	].join('\n');
	return { json: { sessionId: session.id, restored: target, present, changed: paths.length, paths, dryRun }, text };
}
