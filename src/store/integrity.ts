import { type Progress, silent } from '../base/progress.ts';
import { Refusal } from '../base/refusal.ts';
import type { CheckGroup, CheckMeaning } from './integrity-check.ts';
import { CONTENT_CHECKS } from './integrity-content.ts';
import { FILE_CHECKS } from './integrity-file.ts';
import { HISTORY_CHECKS } from './integrity-history.ts';
import { ROW_CHECKS } from './integrity-rows.ts';
import { TREE_CHECKS } from './integrity-trees.ts';
import { WASTE_CHECKS } from './integrity-waste.ts';
import type { Store } from './store.ts';

/** What one check came to. */
export interface CheckOutcome extends CheckMeaning {
	/** False when an earlier check found the file unfit for this one. */
	readonly ran: boolean;
	/** How many things are wrong; counting ends at {@link MOST_FINDINGS}. */
	readonly found: number;
	/** The first of them, for people. */
	readonly messages: readonly string[];
	/** How many rows the repair removed. */
	readonly repaired: number;
}

/** The outcome of all checks. */
export interface IntegrityReport {
	/** Nothing but harmless leftovers was found, and every check ran. */
	readonly ok: boolean;
	readonly checks: readonly CheckOutcome[];
}

/** How to check. */
export interface IntegrityOptions {
	/** Also removes what is provably redundant: needs the owner's connection. Damage is reported, never touched. */
	readonly repair?: boolean;
	readonly progress?: Progress;
}

/** Where counting the findings of one check ends. */
export const MOST_FINDINGS = 10_000;

const GROUPS: readonly CheckGroup[] = [
	...FILE_CHECKS,
	...ROW_CHECKS,
	...HISTORY_CHECKS,
	...CONTENT_CHECKS,
	...TREE_CHECKS,
	...WASTE_CHECKS,
];

/** Every check there is, in the order in which they run. Their names are stable. */
export const INTEGRITY_CHECKS: readonly CheckMeaning[] = GROUPS.flatMap(({ checks }) => checks);

/**
 * Looks for damage: SQLite's own check, then ours. Takes no row at its word, so that it ends on a file that somebody made
 * up: a wrong schema, a damaged file or numbers beyond 2^53 are reported, and what can't be trusted then is not looked at.
 */
export function checkIntegrity(
	store: Pick<Store, 'db' | 'read' | 'write'>,
	{ repair = false, progress = silent }: IntegrityOptions = {},
): IntegrityReport {
	const checks: CheckOutcome[] = [];
	let trusted = true;
	for (const group of GROUPS) {
		if (!trusted) {
			checks.push(...group.checks.map((check) => ({ ...check, ran: false, found: 0, messages: [], repaired: 0 })));
			continue;
		}
		progress.report(checks.length, INTEGRITY_CHECKS.length, group.checks[0]?.name ?? '');
		const outcomes = store.read(() => runGroup(store, group));
		const found = outcomes.some((outcome) => outcome.found > 0);
		if (found && repair && group.repair !== undefined) {
			const repaired = group.repair(store);
			checks.push(...outcomes.map((outcome) => ({ ...outcome, repaired })));
		} else checks.push(...outcomes);
		if (found && group.gate === true) trusted = false;
	}
	return { ok: checks.every(({ ran, found, harmless }) => ran && (found === 0 || harmless === true)), checks };
}

const MOST_MESSAGES = 20;

function runGroup({ db }: Pick<Store, 'db'>, group: CheckGroup): CheckOutcome[] {
	const found = new Map(group.checks.map(({ name }) => [name, { count: 0, messages: [] as string[] }]));
	const note = (check: string, message: string) => {
		const tally = found.get(check);
		if (tally === undefined) throw new Error(`a finding of ${check}, which its group does not declare`);
		tally.count += 1;
		if (tally.messages.length < MOST_MESSAGES) tally.messages.push(message);
		return tally.count < MOST_FINDINGS;
	};
	try {
		for (const { check, message } of group.find(db)) if (!note(check, message)) break;
	} catch (error) {
		if (!(error instanceof Refusal && error.kind === 'invalid')) throw error;
		for (const { name } of group.checks) note(name, `could not be finished: ${error.message}`);
	}
	return group.checks.map((check) => {
		const { count = 0, messages = [] } = found.get(check.name) ?? {};
		return { ...check, ran: true, found: count, messages, repaired: 0 };
	});
}
