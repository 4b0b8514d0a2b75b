import { execFileSync, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { PROJECT } from '../../test/support/source-files.ts';
import { beginWork, dumpStore, WORK } from '../../test/support/store-work.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { watchedDriver } from '../../test/support/watched-driver.ts';
import { checkIntegrity } from './integrity.ts';
import { Store } from './store.ts';

class Injected extends Error {
	override readonly name = 'Injected';
}

/** The states of the store after each piece of work, the first before any. */
function statesWithoutFailure(): string[] {
	using place = temporaryDirectory();
	const store = Store.create(place.join('s.db'));
	const root = beginWork(store);
	const states = [dumpStore(store)];
	for (const [, work] of WORK) {
		work(store, root);
		states.push(dumpStore(store));
	}
	store.close();
	return states;
}

function expectSound(store: Store): void {
	expect(store.db.pragma('integrity_check')).toBe('ok');
	expect(checkIntegrity(store).checks.filter(({ found, harmless }) => found > 0 && harmless !== true)).toEqual([]);
}

test('whichever statement fails, the state is the one before or the one after, and the work can be done again', () => {
	using place = temporaryDirectory();
	const states = statesWithoutFailure();
	for (const [index, [name, work]] of WORK.entries()) {
		for (let failing = 1, failed = true; failed; failing++) {
			let left = Number.POSITIVE_INFINITY;
			const driver = watchedDriver(() => {
				left -= 1;
				if (left === 0) throw new Injected();
			});
			const store = Store.create(place.join(`${index}-${failing}.db`), {}, { driver });
			const root = beginWork(store);
			for (const [, earlier] of WORK.slice(0, index)) earlier(store, root);
			left = failing;
			try {
				work(store, root);
				failed = false;
			} catch (error) {
				if (!(error instanceof Injected)) throw error;
			}
			left = Number.POSITIVE_INFINITY;
			const what = `${name}, statement ${failing}`;
			// Sealing changes nothing that can be seen; everything else is one transaction.
			expect(dumpStore(store), what).toBe(states[failed && name !== 'seal' ? index : index + 1]);
			if (failed) work(store, root);
			expect(dumpStore(store), what).toBe(states[index + 1]);
			if (failing % 5 === 0 || !failed) expectSound(store);
			store.close();
		}
	}
}, 300_000);

test('wherever the process dies, what is left is the state before or the one after', () => {
	using place = temporaryDirectory();
	const states = statesWithoutFailure();
	place.write('live/.keep', '');
	let keep = () => {};
	const store = Store.create(place.join('live/s.db'), {}, { driver: watchedDriver(() => keep()) });
	const root = beginWork(store);
	for (const [index, [name, work]] of WORK.entries()) {
		let statement = 0;
		// The files as a kill -9 would leave them here; copied by another process, as this one must not open them.
		keep = () => {
			statement += 1;
			execFileSync('cp', ['-r', '--', place.join('live'), place.join(`left-${index}-${statement}`)]);
		};
		work(store, root);
		keep = () => {};
		for (let at = 1; at <= statement; at++) {
			const opened = Store.open(place.join(`left-${index}-${at}`, 's.db'), 'tree');
			expect([states[index], states[index + 1]], `${name}, statement ${at}`).toContain(dumpStore(opened));
			if (at % 5 === 0) expectSound(opened);
			opened.close();
		}
	}
	store.close();
}, 300_000);

test.each([3, 30, 60, 90])(
	'after a real kill -9 at statement %i no commit is lost',
	(statement) => {
		using place = temporaryDirectory();
		const states = statesWithoutFailure();
		const path = place.join('s.db');
		const program = ['tools/run-ts.mjs', 'test/support/work-until-killed.ts', path, String(statement)];
		const { signal, stdout } = spawnSync(process.execPath, program, { cwd: PROJECT, encoding: 'utf8' });
		expect(signal).toBe('SIGKILL');
		const done = stdout.split('\n').length - 1;
		const store = Store.open(path, 'tree');
		expect([states[done], states[done + 1]]).toContain(dumpStore(store));
		expectSound(store);
		store.close();
	},
	60_000,
);
