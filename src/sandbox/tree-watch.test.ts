import { chmodSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ordinaryAccount } from '../../test/support/accounts.ts';
import { asAccount } from '../../test/support/as-account.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { TreeWatch } from './tree-watch.ts';

let place: TemporaryDirectory;
let watch: TreeWatch<'tree'>;

beforeEach(() => {
	place = temporaryDirectory();
	mkdirSync(place.join('a/b/c'), { recursive: true });
	mkdirSync(place.join('skipped/deep'), { recursive: true });
	watch = new TreeWatch(
		new Map([['tree', { path: place.path, passesOver: (path: string) => path.startsWith('skipped') }]]),
	);
	attend();
});
afterEach(() => {
	watch.close();
	place[Symbol.dispose]();
});

/** Lets the watch see everything, and gives the moment. */
function attend(): number {
	watch.drain();
	while (watch.isRegistering) watch.register(1_000);
	return watch.mark();
}

/** Where something changed since a moment. */
function changed(since: number): string[] | null {
	attend();
	const paths = watch.changedSince('tree', since);
	return paths === null ? null : [...paths].sort();
}

test('a directory that is found counts as changed from the beginning, and not since', () => {
	expect(changed(0)).toEqual(['', 'a', 'a/b', 'a/b/c']);
	expect(changed(attend())).toEqual([]);
});

test('changes are told by directory; what is passed over is not watched', () => {
	const since = attend();
	writeFileSync(place.join('a/b/f'), '1');
	writeFileSync(place.join('skipped/f'), '1');
	writeFileSync(place.join('skipped/deep/f'), '1');
	expect(changed(since)).toEqual(['a/b']);
	const later = attend();
	expect(changed(later)).toEqual([]);
	expect(changed(since)).toEqual(['a/b']);
	watch.forget(later);
	expect(changed(since)).toEqual([]);
});

test('a tree made at once is known to its depth, and renamed directories keep being watched where they are', () => {
	const since = attend();
	mkdirSync(place.join('n/e/w'), { recursive: true });
	expect(changed(since)).toEqual(['', 'n', 'n/e', 'n/e/w']);
	const then = attend();
	renameSync(place.join('a/b'), place.join('n/e/moved'));
	renameSync(place.join('n'), place.join('m'));
	writeFileSync(place.join('m/e/moved/c/f'), '');
	expect(changed(then)).toEqual(['', 'a', 'm/e', 'm/e/moved/c']);
	const last = attend();
	rmSync(place.join('m'), { recursive: true });
	expect(changed(last)).toEqual(['']);
});

test('two directories that change places are watched where they are', () => {
	const since = attend();
	mkdirSync(place.join('a2/b'), { recursive: true });
	attend();
	renameSync(place.join('a'), place.join('t'));
	renameSync(place.join('a2'), place.join('a'));
	renameSync(place.join('t'), place.join('a2'));
	const then = attend();
	expect(changed(since)).not.toBeNull();
	writeFileSync(place.join('a2/b/c/f'), '');
	writeFileSync(place.join('a/b/f'), '');
	expect(changed(then)).toEqual(['a/b', 'a2/b/c']);
});

test('when events are lost, anything may have changed until then, and everything is known afterwards', () => {
	const since = attend();
	const most = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'latin1'));
	const files = ['a/f', 'a/g'].map((name) => place.join(name));
	for (const file of files) writeFileSync(file, '');
	// in turn, for equal events one after another are told once
	for (let change = 0; change <= most; change++) chmodSync(files[change % 2] as string, 0o600);
	mkdirSync(place.join('unseen/deep'), { recursive: true });
	expect(changed(since)).toBeNull();
	const then = attend();
	writeFileSync(place.join('unseen/deep/f'), '');
	expect(changed(then)).toEqual(['unseen/deep']);
});

test('a directory that may not be read leaves it unknown what changed, until it may be again', () => {
	const account = ordinaryAccount();
	asAccount(account, () => {
		using own = temporaryDirectory();
		mkdirSync(own.join('d/e'), { recursive: true });
		const trees = new TreeWatch(new Map([['tree', { path: own.path }]]));
		const see = () => {
			trees.drain();
			while (trees.isRegistering) trees.register(1_000);
			return trees.mark();
		};
		try {
			const since = see();
			mkdirSync(own.join('locked'), { mode: 0o000 });
			see();
			expect(trees.changedSince('tree', since)).toBeNull();
			rmdirSync(own.join('locked'));
			see();
			expect(trees.changedSince('tree', since)).toEqual(new Set(['']));
		} finally {
			trees.close();
		}
	});
});
