import { parseTrail } from '../history/undo.ts';
import { LOCK_SNAPSHOT_BASE, LockFile } from '../host/lock-file.ts';
import { countAutomatic, THIN_AT_ONCE, thinInSteps } from '../store/thin-in-steps.ts';
import type { OwnedSession } from './session.ts';

/** How far a thinning got. */
export interface Thinned {
	/** Snapshots that went in this call. */
	readonly dropped: number;
	/** False when there is more to do: the next call goes on. */
	readonly done: boolean;
}

/** Longer than this nobody is kept waiting, between two checkpoints of a run or at its end. */
const BUDGET_MS = 40;
/** Seconds of the session's clock between two looks at history. */
const LOOK_EVERY_SECONDS = 60;

/** What is known of a session between calls. */
interface Course {
	/** What goes on, and has dropped its snapshots already. */
	steps: Generator<number> | null;
	lookedAtSec: number | null;
}

const courses = new WeakMap<OwnedSession, Course>();

/**
 * Thins old automatic checkpoints (store/thinning.ts) for some 50 ms at most, and goes on where the call before stopped. Meant
 * to be called often while a run lives, after a checkpoint and never within one; it looks at history once a minute and costs
 * nothing in between. Snapshots that somebody reads stay until the next time. What is left undone when the session is closed
 * is done by its next owner.
 *
 * Throws Refusal 'full' when the disk has no room; the next call begins anew.
 */
export function thinHistory(session: OwnedSession, budgetMs = BUDGET_MS): Thinned {
	const course = courses.get(session) ?? { steps: null, lookedAtSec: null };
	courses.set(session, course);
	const end = performance.now() + budgetMs;
	const dropped = course.steps === null ? begin(session, course) : 0;
	const { steps } = course;
	// a step that throws ends its generator, and the next call finds it so
	while (course.steps !== null && performance.now() < end) {
		if (steps?.next().done === true) course.steps = null;
	}
	return { dropped, done: course.steps === null };
}

/** How many snapshots it dropped. Leaves the collecting to be gone on with. */
function begin({ store, place, clock }: OwnedSession, course: Course): number {
	const now = clock.now();
	// a clock that was set back must not keep history from being looked at
	if (course.lookedAtSec !== null && Math.abs(now.sec - course.lookedAtSec) < LOOK_EVERY_SECONDS) return 0;
	course.lookedAtSec = now.sec;
	if (store.config.get('thinning') === null && countAutomatic(store) < THIN_AT_ONCE) return 0;
	const redo = parseTrail(store.config.get('redo'));
	const locks = LockFile.open(place.lockPath);
	try {
		// who wants to read a snapshot meanwhile finds it locked, then gone
		const isBeingRead = (id: number) => !locks.tryLock(LOCK_SNAPSHOT_BASE + id, 1, 'exclusive');
		const steps = thinInSteps(store, { now, redo, isBeingRead });
		const dropped = steps.next();
		course.steps = dropped.done === true ? null : steps;
		return dropped.done === true ? 0 : dropped.value;
	} finally {
		locks.close();
	}
}
