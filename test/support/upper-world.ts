import { mkdirSync } from 'node:fs';
import { release } from 'node:os';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Change } from '../../src/base/change.ts';
import { systemClock } from '../../src/base/clock.ts';
import { bringInLine, layOut } from '../../src/layer/lay-out.ts';
import { scanUpper } from '../../src/layer/scan.ts';
import { ScanMemory } from '../../src/layer/scan-memory.ts';
import { Store } from '../../src/store/store.ts';
import type { Account } from './accounts.ts';
import { asAccount } from './as-account.ts';
import { playUpperStep, type UpperStep, upperPaths, upperStep } from './random-upper.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';
import { treeLines } from './tree-hash.ts';

type Step = UpperStep | { readonly what: 'scan'; readonly isSettled: boolean };

const steps: fc.Arbitrary<Step[]> = fc.array(
	fc.oneof(
		{ weight: 4, arbitrary: upperStep },
		{ weight: 1, arbitrary: fc.record({ what: fc.constant('scan' as const), isSettled: fc.boolean() }) },
	),
	{ minLength: 5, maxLength: 40, size: 'max' },
);

/**
 * Plays random steps in real upper directories, with scans in between: what the store took in is laid out as it was, and
 * earlier states come back.
 */
export function checkRoundTrips(account: Account, numRuns: number): void {
	fc.assert(
		fc.property(steps, fc.nat(), (list, back) => {
			using world = new World(account);
			for (const step of list) {
				if (step.what === 'scan') world.scanAndCheck(step.isSettled);
				else world.play(step);
			}
			world.scanAndCheck(false);
			world.goBack(back);
		}),
		{ numRuns },
	);
}

/** An upper directory, a store that takes it in, and what each snapshot looked like on disk. */
class World implements Disposable {
	readonly #account: Account;
	readonly #place: TemporaryDirectory = temporaryDirectory();
	readonly #upper = this.#place.join('upper');
	readonly #store = Store.create(this.#place.join('session.db'));
	readonly #root: number;
	readonly #seen: { snapshot: number; lines: string[] }[] = [];
	#memory: ScanMemory | null = null;
	#layouts = 0;

	constructor(account: Account) {
		this.#account = account;
		account.own(this.#place.path);
		asAccount(account, () => mkdirSync(this.#upper));
		this.#root = this.#store.write(() => this.#store.tree.addRoot('project', null).ino);
	}

	play(step: UpperStep): void {
		const known = upperPaths(this.#upper);
		asAccount(this.#account, () => playUpperStep(this.#upper, known, step));
	}

	scanAndCheck(isSettled: boolean): void {
		const { sec, nsec } = systemClock.now();
		const now = { sec: sec + (isSettled && hasFineTimes ? 10 : 0), nsec };
		asAccount(this.#account, () => {
			const scan = scanUpper(this.#upper, this.#memory, { now });
			this.#apply(scan.changes);
			this.#memory = this.#reloaded(scan.memory);
			scan.close();
			expect(scan.disturbed).toEqual(new Set());
		});
		const lines = upperLines(this.#upper);
		expect(this.#layOutNow()).toEqual(lines);
		this.#seen.push({ snapshot: this.#snapshot(), lines });
	}

	/** Brings the directory back to an earlier state, after which there is nothing for a scan to find. */
	goBack(choice: number): void {
		const { tree } = this.#store;
		const target = this.#seen[choice % this.#seen.length];
		if (target === undefined) return;
		const changes = tree.changes('now', target.snapshot, this.#root);
		asAccount(this.#account, () => {
			this.#memory = bringInLine(changes, this.#upper, this.#memory);
		});
		expect(upperLines(this.#upper)).toEqual(target.lines);
		this.#store.write(() => tree.restore(target.snapshot, [this.#root]));
		const scan = asAccount(this.#account, () => scanUpper(this.#upper, this.#memory));
		const changed = asAccount(this.#account, () => this.#apply(scan.changes));
		scan.close();
		expect(changed).toEqual({ entries: 0, inodes: 0 });
	}

	[Symbol.dispose](): void {
		this.#store.close();
		this.#place[Symbol.dispose]();
	}

	#apply(changes: readonly Change[]) {
		const staged = this.#store.tree.stage(changes);
		return this.#store.write(() => this.#store.tree.apply(this.#root, changes, staged));
	}

	#layOutNow(): string[] {
		const path = this.#place.join(`layout-${this.#layouts++}`);
		asAccount(this.#account, () => {
			mkdirSync(path);
			const memory = layOut(this.#store.tree.at('now'), this.#root, path);
			const again = scanUpper(path, memory);
			expect(again.changes.filter(({ after }) => !deniesOwner(after?.kind, after?.mode))).toEqual([]);
			again.close();
		});
		return upperLines(path);
	}

	#snapshot(): number {
		return this.#store.write(() =>
			this.#store.tree.snapshot({ trigger: 'manual', created: systemClock.now(), atRest: true }),
		);
	}

	#reloaded(memory: ScanMemory): ScanMemory | null {
		memory.save(this.#place.join('scan.db'), 'token');
		return ScanMemory.load(this.#place.join('scan.db'), 'token');
	}
}

/** Directories that had to be opened up for their own owner have a new ctime each time. */
function deniesOwner(kind: string | undefined, mode = 0): boolean {
	return (kind === 'directory' && (mode & 0o500) !== 0o500) || (kind === 'file' && (mode & 0o400) === 0);
}

/** Of a whiteout only its name counts; the upper directory's own name does not. */
function upperLines(root: string): string[] {
	return treeLines(root).map((line) => line.replace(/ 20000 .*/, ' whiteout'));
}

/** Kernels from 6.13 on give each change after a look its own ctime, so that no tick need pass (multigrain timestamps). */
const [major = 0, minor = 0] = release().split('.').map(Number);
const hasFineTimes = major > 6 || (major === 6 && minor >= 13);
