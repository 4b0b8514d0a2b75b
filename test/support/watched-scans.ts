import { mkdirSync } from 'node:fs';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Change } from '../../src/base/change.ts';
import { systemClock } from '../../src/base/clock.ts';
import { joinPath } from '../../src/base/paths.ts';
import { scanUpper } from '../../src/layer/scan.ts';
import type { ScanMemory } from '../../src/layer/scan-memory.ts';
import { TreeWatch, type WatchMark } from '../../src/sandbox/tree-watch.ts';
import type { Account } from './accounts.ts';
import { asAccount } from './as-account.ts';
import { playUpperStep, type UpperStep, upperPaths, upperStep } from './random-upper.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';

type Step =
	| UpperStep
	| { readonly what: 'deep'; readonly where: number }
	/** Lets the watch see what happened until now; a scan follows later. */
	| { readonly what: 'drain' }
	/** `reads`: a look that nothing is kept of, as before a scan that failed. */
	| { readonly what: 'scan'; readonly isKept: boolean };

const steps: fc.Arbitrary<Step[]> = fc.array(
	fc.oneof(
		{ weight: 8, arbitrary: upperStep },
		{ weight: 1, arbitrary: fc.record({ what: fc.constant('deep' as const), where: fc.nat(100) }) },
		{ weight: 1, arbitrary: fc.record({ what: fc.constant('drain' as const) }) },
		{ weight: 2, arbitrary: fc.record({ what: fc.constant('scan' as const), isKept: fc.boolean() }) },
	),
	{ minLength: 5, maxLength: 60, size: 'max' },
);

/**
 * Plays random steps in a real upper directory that is watched: a scan of the directories in which something happened finds
 * exactly what a scan of all of it finds, and remembers the same.
 */
export function checkWatchedScans(account: Account, numRuns: number): void {
	fc.assert(
		fc.property(steps, (list) => {
			using world = new World(account);
			for (const step of list) world.play(step);
			world.scan(true);
		}),
		{ numRuns },
	);
}

class World implements Disposable {
	readonly #account: Account;
	readonly #place: TemporaryDirectory = temporaryDirectory();
	readonly #upper = this.#place.join('upper');
	readonly #watch: TreeWatch<'upper'>;
	#memory: ScanMemory | null = null;
	#mark: WatchMark = 0;
	#deep = 0;

	constructor(account: Account) {
		this.#account = account;
		account.own(this.#place.path);
		asAccount(account, () => mkdirSync(this.#upper));
		this.#watch = new TreeWatch(new Map([['upper', { path: this.#upper }]]));
	}

	play(step: Step): void {
		if (step.what === 'scan') this.scan(step.isKept);
		else if (step.what === 'drain') this.#drain();
		else if (step.what === 'deep') this.#makeDeep(step.where);
		else {
			const known = upperPaths(this.#upper);
			asAccount(this.#account, () => playUpperStep(this.#upper, known, step));
			// what is written by a name that comes and goes unseen is found by a look at everything alone
			if (step.what === 'link') this.scan(true);
		}
	}

	scan(isKept: boolean): void {
		this.#drain();
		const { sec, nsec } = systemClock.now();
		// nothing counts as written within the clock's last tick
		const now = { sec: sec + 10, nsec };
		const mark = this.#watch.mark();
		const text = (changes: readonly Change[]) => textOf(changes, this.#account.uid === 0);
		asAccount(this.#account, () => {
			const only = this.#watch.changedSince('upper', this.#mark);
			const partial = scanUpper(this.#upper, this.#memory, only === null ? { now } : { now, only });
			partial.close();
			const whole = scanUpper(this.#upper, this.#memory, { now });
			whole.close();
			expect(text(partial.changes)).toEqual(text(whole.changes));
			const again = scanUpper(this.#upper, partial.memory, { now });
			again.close();
			expect(text(again.changes)).toEqual([]);
			if (isKept) this.#memory = partial.memory;
		});
		if (!isKept) return;
		this.#mark = mark;
		this.#watch.forget(mark);
	}

	[Symbol.dispose](): void {
		this.#watch.close();
		this.#place[Symbol.dispose]();
	}

	#drain(): void {
		asAccount(this.#account, () => {
			this.#watch.drain();
			while (this.#watch.isRegistering) this.#watch.register(1_000);
		});
	}

	#makeDeep(where: number): void {
		const directories = upperPaths(this.#upper).filter(({ kind }) => kind === 'directory');
		const { path } = directories[where % directories.length] as { path: string };
		mkdirSync(joinPath(joinPath(this.#upper, path), `deep-${this.#deep++}/x/y/z`), { recursive: true });
	}
}

function textOf(changes: readonly Change[], isRoot: boolean): string[] {
	return changes
		.filter(({ after }) => isRoot || !deniesOwner(after))
		.map(({ path, after, link, from }) => {
			if (after === null) return JSON.stringify([path, 'gone']);
			const { kind, mode, size, mtime, opaque } = after;
			return JSON.stringify([path, kind, mode, size, kind === 'whiteout' ? null : mtime, opaque, link, from]);
		})
		.sort();
}

/** What locks out its own owner is opened up while it is read, and has a new ctime each time. */
function deniesOwner(after: Change['after']): boolean {
	const needed = after?.kind === 'directory' ? 0o500 : after?.kind === 'file' ? 0o400 : 0;
	return after !== null && (after.mode & needed) !== needed;
}
