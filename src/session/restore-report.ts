import { Refusal } from '../base/refusal.ts';
import type { Root } from '../store/roots.ts';
import type { PlannedRestore, RestoreScope } from './plan-restore.ts';
import { belowProject } from './project-path.ts';
import type { RestoreReport, RestoreRequest } from './restore-request.ts';
import type { RestoreOutcome } from './restore-session.ts';
import type { Session } from './session.ts';

/** Throws Refusal 'usage' for a path that is outside the project. */
export function scopeOf({ project }: Session, { paths, cwd, home }: RestoreRequest): RestoreScope {
	return { paths: paths.map((given) => belowProject(given, project.basePath, cwd)), withHome: home };
}

/** Throws Refusal 'busy' when it is not what the user has said yes to. */
export function checkExpected({ id }: Session, plan: PlannedRestore, expected: number | null): void {
	if (expected === null || plan.target === expected) return;
	const what = `session '${id}' went on meanwhile: this would now restore snapshot ${plan.target}, not ${expected}`;
	throw new Refusal('busy', 'went-on', what, { hint: 'look at `dropcloth log` and try again' });
}

/** What would be done. */
export function reportOf({ target, changes }: Pick<RestoreOutcome, 'target' | 'changes'>): RestoreReport {
	const paths = changes.flatMap(({ root, changes: list }) => list.map(({ path }) => shownPath(root, path)));
	return { target, present: null, paths, kept: [] };
}

/** What was done. */
export function reportOfOutcome(outcome: RestoreOutcome): RestoreReport {
	const kept = outcome.kept.map(({ root, path }) => shownPath(root, path));
	return { ...reportOf(outcome), present: outcome.present, kept };
}

function shownPath({ role }: Root, path: string): string {
	return role === 'project' ? path : `${role}:${path}`;
}
